// The alert rules and the dashboard in deploy/. The tests compare the rules and the dashboard with the metrics of the
// service, and with the pages that say how to react.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Metrics } from '../../src/platform/observability/metrics.js';

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const yaml = createRequire(import.meta.url)('js-yaml');
const read = (file: string): string => readFileSync(join('deploy', file), 'utf8');
const { groups } = yaml.load(read('prometheus/alerts.yml')) as {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const prometheus = yaml.load(read('prometheus/prometheus.yml')) as {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly static_configs: readonly { readonly targets: readonly string[] }[];
  }[];
};
const { panels } = JSON.parse(read('grafana/screening-service.json')) as { readonly panels: readonly Panel[] };

/** The labels that Prometheus adds to each series. */
const ADDED = ['job', 'instance'];

/**
 * Each series by its name, with its labels. The library's declarations contain neither the parts of a histogram nor the
 * names of labels.
 */
const SERIES = new Map<string, readonly string[]>([['up', []]]);
for (const metric of new Metrics().registry.getMetricsAsArray() as unknown as {
  name: string;
  type: string;
  labelNames: readonly string[];
}[]) {
  if (metric.type !== 'histogram') SERIES.set(metric.name, metric.labelNames);
  else {
    SERIES.set(`${metric.name}_bucket`, [...metric.labelNames, 'le']);
    for (const part of ['sum', 'count']) SERIES.set(`${metric.name}_${part}`, metric.labelNames);
  }
}

const FUNCTIONS =
  /^(?:sum|max|min|avg|count|topk|rate|increase|changes|absent|vector|histogram_quantile|by|on|and|or|unless|offset)$/;

interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
  /** Values that a series must have literally. */
  readonly values: readonly string[];
}

/** Finds in an expression its series with the labels of their selectors, and the labels by which it groups. */
function namesIn(expr: string): { readonly selectors: readonly Selector[]; readonly grouped: readonly string[] } {
  const grouped = [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/));
  const rest = expr.replace(/\b(?:by|on)\s*\([^)]*\)/g, '').replace(/\[\w+\]|\boffset \w+/g, '');
  const selectors = [...rest.matchAll(/(?<![\w.])([a-z_]\w*)(?:\{([^}]*)\})?/g)]
    .filter(([, name = '']) => !FUNCTIONS.test(name))
    .map(([, name = '', inside = '']) => {
      const matchers = [...inside.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)];
      const words = matchers.filter(([, label = '', , value = '']) => label !== 'job' && /^[\w|-]+$/.test(value));
      return {
        name,
        labels: matchers.map(([, label = '']) => label),
        values: words.flatMap(([, , , value = '']) => value.split('|')),
      };
    });
  return { selectors, grouped };
}

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join('src', file), 'utf8'))
  .join('\n');

/** Names in the expression that the service does not have. */
function unknownIn(expr: string): string[] {
  const { selectors, grouped } = namesIn(expr);
  const labelsOf = (name: string): readonly string[] => [...(SERIES.get(name) ?? []), ...ADDED];
  return [
    ...(selectors.length === 0 ? ['no series'] : []),
    ...selectors.filter(({ name }) => !SERIES.has(name)).map(({ name }) => name),
    ...selectors.flatMap(({ name, labels }) =>
      labels.filter((label) => !labelsOf(name).includes(label)).map((label) => `${name}{${label}}`),
    ),
    ...grouped.filter((label) => !selectors.every(({ name }) => labelsOf(name).includes(label))),
    ...selectors.flatMap(({ values }) => values).filter((value) => !sources.includes(`'${value}'`)),
  ];
}

/** The labels that the result of the expression has. */
function labelsOfResult(expr: string): readonly string[] {
  const { selectors, grouped } = namesIn(expr);
  if (grouped.length > 0) return grouped;
  return /^(?:sum|max|min)\(/.test(expr) ? [] : [...ADDED, ...selectors.flatMap(({ name }) => SERIES.get(name) ?? [])];
}

const labelsNamed = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);
/** `ProjectionStopped` is the section `projection-stopped`. */
const anchorOf = (alert: string): string => alert.replaceAll(/(?<=.)(?=[A-Z])/g, '-').toLowerCase();

describe('the check of expressions', () => {
  it.each([
    ['projection_stoped == 1', ['projection_stoped']],
    ['rate(http_request_duration_seconds[5m])', ['http_request_duration_seconds']],
    ['vendor_calls_total{provider="nonesuch"} > 0', ['vendor_calls_total{provider}', 'nonesuch']],
    ['vendor_calls_total{outcome=~"timed-out|late"} > 0', ['late']],
    ['sum by (queue, le) (queue_jobs_waiting)', ['le']],
    ['projection_lag_seconds > 1 and on (handler) event_handler_lag_seconds > 1', ['handler']],
    ['1 > 0', ['no series']],
    ['histogram_quantile(0.9, sum by (vendor, le) (rate(vendor_call_duration_seconds_bucket[5m])))', []],
  ])('finds in %s the names that do not exist', (expr, unknown) => {
    expect(unknownIn(expr)).toEqual(unknown);
  });
});

describe('deploy/prometheus/alerts.yml', () => {
  // A test account may make its vendors slow or faulty, so only live traffic may wake an operator.
  it('has no rule about vendors or money that test traffic can fire', () => {
    const apart = ({ expr }: AlertRule): boolean =>
      namesIn(expr).selectors.some(({ name }) => SERIES.get(name)?.includes('environment'));
    const rulesApart = rules.filter(apart);
    expect(rulesApart.map(({ alert }) => alert)).toEqual([
      'VendorFailing',
      'VendorRefused',
      'VendorSlow',
      'PaymentIntentAltered',
      'RefundReversed',
    ]);
    for (const { alert, expr } of rulesApart) {
      // The right side of `unless` only takes series away.
      const [counted = ''] = expr.split(' unless ');
      const selectors = [...counted.matchAll(/\b(?:vendor|payment)_\w+(?:\{([^}]*)\})?/g)].map(
        ([, inside = '']) => inside,
      );
      expect([alert, selectors.filter((inside) => !inside.includes('environment="live"'))]).toEqual([alert, []]);
    }
    const { expr } = rules.find(({ alert }) => alert === 'CallsWaiting')!;
    const [, without = ''] = /queue!~"([^"]+)"/.exec(expr) ?? [];
    const fires = (queue: string): boolean => !new RegExp(`^(?:${without})$`).test(queue);
    expect(['identity-vendor-live', 'identity-vendor-live-settle', 'credit-bureau.acme-live'].map(fires)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['identity-vendor-test', 'identity-vendor-test-settle', 'webhook-deliveries'].map(fires)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('has rules', () => expect(rules.length).toBeGreaterThan(20));

  it.each(rules.map((rule) => [`${rule.alert} (${rule.labels.severity})`, rule] as const))(
    '%s names only metrics and labels that exist',
    (_name, { expr, annotations: { summary } }) => {
      expect(unknownIn(expr)).toEqual([]);
      const told = labelsNamed(summary, /\$labels\.(\w+)/g);
      expect(told.filter((label) => !labelsOfResult(expr).includes(label))).toEqual([]);
    },
  );

  it('gives each alert a severity, a sentence, and a section that says how to react', () => {
    const page = readFileSync('docs/operations/alerts.md', 'utf8');
    const sections = new Map(
      page
        .split(/^## /m)
        .slice(1)
        .map((section) => {
          const [title = '', ...body] = section.split('\n');
          return [title.toLowerCase().replaceAll(' ', '-'), body.join('\n').trim()] as const;
        }),
    );
    for (const { alert, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(?:critical|warning)$/)]);
      expect([alert, annotations.summary]).toEqual([alert, expect.stringMatching(/^(?:[A-Z]|\{\{).{20,}\.$/)]);
      expect(annotations.runbook_url).toBe(`docs/operations/alerts.md#${anchorOf(alert)}`);
      expect([alert, sections.get(anchorOf(alert))?.length]).toEqual([alert, expect.any(Number)]);
    }
    const alerts = new Set(rules.map(({ alert }) => anchorOf(alert)));
    expect([...sections.keys()].filter((anchor) => !alerts.has(anchor))).toEqual(['set-up']);
  });

  it('has the same alert only once for each severity', () => {
    const names = rules.map(({ alert, labels }) => `${alert} ${labels.severity}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('names only the job of the example, whose targets have the ports that compose sets', () => {
    expect(prometheus.rule_files).toEqual(['alerts.yml']);
    const [{ job_name: job, static_configs: configs } = { job_name: '', static_configs: [] }] =
      prometheus.scrape_configs;
    const { services } = yaml.load(readFileSync('docker-compose.yml', 'utf8'), { schema: yaml.YAML11_SCHEMA });
    for (const target of configs.flatMap(({ targets }) => targets)) {
      const [container = '', port] = target.split(':');
      expect([target, services[container]?.environment.METRICS_PORT]).toEqual([target, port]);
    }
    const jobs = rules.flatMap(({ expr }) => labelsNamed(expr, /job="([^"]*)"/g));
    expect(new Set(jobs)).toEqual(new Set([job]));
  });
});

describe('deploy/grafana/screening-service.json', () => {
  const drawn = panels.filter(({ type }) => type !== 'row');

  it.each(drawn.map((panel) => [panel.title, panel] as const))(
    'the panel "%s" names only metrics and labels that exist',
    (_title, { targets = [] }) => {
      expect(targets.length).toBeGreaterThan(0);
      for (const { expr, legendFormat } of targets) {
        expect(unknownIn(expr)).toEqual([]);
        const told = labelsNamed(legendFormat, /\{\{(\w+)\}\}/g);
        expect(told.filter((label) => !labelsOfResult(expr).includes(label))).toEqual([]);
      }
    },
  );

  it('gives each panel a separate id and a separate position', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)}:${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  it('shows every metric of the service, except those under an earlier name', () => {
    const shown = [...rules, ...drawn.flatMap(({ targets = [] }) => targets)].map(({ expr }) => expr).join('\n');
    const own = [...SERIES.keys()].filter(
      (name) => !/^(?:nodejs|process|up$)|_(?:sum|count|bucket|max_bytes)$/.test(name),
    );
    expect(own.filter((name) => !shown.includes(name))).toEqual(['reaction_lag_seconds']);
  });
});
