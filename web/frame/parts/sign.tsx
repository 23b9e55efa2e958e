// The sign above an ending. The sign repeats the heading, so screen readers skip it.

export type Kind = 'good' | 'stopped' | 'wait' | 'unknown' | 'file';

const PATHS: Readonly<Record<Kind, string>> = {
  good: 'm14 24.5 7 7 13-14',
  stopped: 'M24 13v14m0 7.5v.5',
  wait: 'M24 13v11.5l7.5 4.5',
  unknown: 'm30 30 5 5M29.5 22a7.5 7.5 0 1 1-15 0 7.5 7.5 0 0 1 15 0',
  file: 'M17 13h9l6 6v16H17zM26 13v6h6M21 25h7m-7 5h7',
};

export function Sign({ kind }: { readonly kind: Kind }) {
  return (
    <svg class={`sign ${kind}`} viewBox="0 0 48 48" aria-hidden="true">
      <circle cx="24" cy="24" r="24" />
      <path d={PATHS[kind]} />
    </svg>
  );
}
