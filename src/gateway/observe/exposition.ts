/** Metrics as text that Prometheus reads (format 0.0.4): families in the order in which they are added. */

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type Labels = Readonly<Record<string, string>>;

export class Exposition {
  #text = '';

  /** One family: its samples are `[labels, value]`. One without samples is left out. */
  family(
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    samples: Iterable<readonly [Labels, number]>,
  ): void {
    const lines = Array.from(samples, ([labels, value]) => sample(name, labels, value));
    if (lines.length > 0) this.#text += `${headOf(name, type, help)}${lines.join('')}`;
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
    if (lines !== '') this.#text += headOf(name, 'histogram', help) + lines;
  }

  toString(): string {
    return this.#text;
  }
}

function headOf(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function sample(name: string, labels: Labels, value: number): string {
  const inside = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${inside.length === 0 ? '' : `{${inside.join(',')}}`} ${value}\n`;
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);
}
