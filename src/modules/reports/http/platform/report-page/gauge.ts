// The score as a half circle with its bands, in SVG that the server makes. The page's style defines the colours as classes.
import { html, type Html } from './html.js';
import { bandOf, BANDS, MAX_SCORE as MAX, MIN_SCORE as MIN, type Scored } from './figures.js';
import type { Wording } from './wording.js';

const RADIUS = 80;
const CENTRE = { x: 100, y: 96 };
/** The gap between two bands, as a share of the scale. */
const GAP = 0.006;

/** The picture is only for the eye: the page says the same in words next to it. */
export function gauge(score: Scored, { bands }: Wording): Html {
  const { value, min, max } = score;
  const band = bandOf(score);
  const at = share(value, min, max);
  const arcs =
    band === null
      ? html`<path class="arc none" d="${arc(0, 1)}"/>`
      : BANDS.map(([from, name], index) => {
          const end = BANDS[index + 1]?.[0] ?? MAX;
          return html`<path class="arc ${name}" d="${arc(share(from, MIN, MAX), share(end, MIN, MAX) - (index < BANDS.length - 1 ? GAP : 0))}"/>`;
        });
  const needle = point(at, RADIUS - 14);
  const tip = point(at, RADIUS + 9);
  return html`<svg class="gauge" viewBox="0 0 200 112" width="200" height="112" aria-hidden="true" focusable="false">
${arcs}<line class="needle" x1="${needle.x}" y1="${needle.y}" x2="${tip.x}" y2="${tip.y}"/>
<text class="value" x="${CENTRE.x}" y="86" text-anchor="middle">${value}</text>
${band === null ? null : html`<text class="band" x="${CENTRE.x}" y="104" text-anchor="middle">${bands[band]}</text>`}
</svg>`;
}

function share(value: number, min: number, max: number): number {
  return max > min ? Math.min(1, Math.max(0, (value - min) / (max - min))) : 0;
}

function point(at: number, radius: number): { readonly x: string; readonly y: string } {
  const angle = Math.PI * (1 - at);
  return {
    x: (CENTRE.x + radius * Math.cos(angle)).toFixed(1),
    y: (CENTRE.y - radius * Math.sin(angle)).toFixed(1),
  };
}

function arc(from: number, to: number): string {
  const start = point(from, RADIUS);
  const end = point(to, RADIUS);
  return `M ${start.x} ${start.y} A ${RADIUS} ${RADIUS} 0 0 1 ${end.x} ${end.y}`;
}
