/**
 * Metrics as text that Prometheus reads (format 0.0.4), in the order in which families are added. A family without
 * samples is left out: what is not known is not exported.
 */

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type Labels = Readonly<Record<string, string>>;

/** The values of a distribution that was measured already, such as `['0.99', 1.5]`. */
export interface SummaryReading {
  readonly quantiles: readonly (readonly [quantile: string, value: number])[];
  readonly sum: number;
  readonly count: number;
}

export class Exposition {
  #text = '';

  family(
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    samples: Iterable<readonly [Labels, number]>,
  ): void {
    const lines = Array.from(samples, ([labels, value]) => sample(name, labels, value));
    this.#add(name, type, help, lines.join(''));
  }

  one(name: string, type: 'counter' | 'gauge', help: string, value: number): void {
    this.family(name, type, help, [[{}, value]]);
  }

  /** `counts` of the buckets up to `bounds`, each without those before it; the last one is of what is above them all. */
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    series: Iterable<readonly [Labels, { readonly counts: ArrayLike<number>; readonly sum: number }]>,
  ): void {
    let lines = '';
    for (const [labels, { counts, sum }] of series) {
      let total = 0;
      for (let i = 0; i < counts.length; i += 1) {
        total += counts[i]!;
        const le = i < bounds.length ? String(bounds[i]) : '+Inf';
        lines += sample(`${name}_bucket`, { ...labels, le }, total);
      }
      lines += sample(`${name}_sum`, labels, sum) + sample(`${name}_count`, labels, total);
    }
    this.#add(name, 'histogram', help, lines);
  }

  summary(name: string, help: string, series: Iterable<readonly [Labels, SummaryReading]>): void {
    let lines = '';
    for (const [labels, { quantiles, sum, count }] of series) {
      for (const [quantile, value] of quantiles) lines += sample(name, { ...labels, quantile }, value);
      lines += sample(`${name}_sum`, labels, sum) + sample(`${name}_count`, labels, count);
    }
    this.#add(name, 'summary', help, lines);
  }

  toString(): string {
    return this.#text;
  }

  #add(name: string, type: string, help: string, lines: string): void {
    if (lines !== '') this.#text += `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n${lines}`;
  }
}

function sample(name: string, labels: Labels, value: number): string {
  const inside = Object.entries(labels).map(([label, text]) => `${label}="${escapedLabel(text)}"`);
  return `${name}${inside.length === 0 ? '' : `{${inside.join(',')}}`} ${numberText(value)}\n`;
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}

function escapedLabel(text: string): string {
  return escapedHelp(text).replaceAll('"', String.raw`\"`);
}
