/**
 * Parses Prometheus's text format as its own parser does, and applies the rules of `promtool check metrics`
 * to our names. A violation fails an assertion.
 */
import assert from 'node:assert/strict';

export interface PrometheusSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export class PrometheusText {
  /** By the names of their families. */
  readonly types = new Map<string, string>();
  readonly helps = new Map<string, string>();
  readonly samples: PrometheusSample[] = [];

  constructor(text: string) {
    assert.ok(text.endsWith('\n'), 'the last line ends');
    let family = '';
    for (const line of text.trimEnd().split('\n')) family = this.#readLine(line, family);
    const series = this.samples.map(({ name, labels }) => JSON.stringify([name, labels]));
    assert.equal(new Set(series).size, series.length, 'no series stands twice');
    for (const [name, type] of this.types) this.#check(name, type);
  }

  /** Undefined when there is no such sample; labels that are not given may have any value. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    return this.samples.find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text),
    )?.value;
  }

  #readLine(line: string, family: string): string {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment;
      if (kind === 'HELP') {
        assert.ok(!this.helps.has(name), `${name} stands twice`);
        this.helps.set(name, rest);
        return name;
      }
      assert.equal(name, family, 'HELP stands before TYPE');
      this.types.set(name, rest);
      return family;
    }
    const [, name = '', inside = '', value = ''] =
      /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? assert.fail(`no sample: ${line}`);
    const suffixes = { summary: /_(?:sum|count)$/, histogram: /_(?:bucket|sum|count)$/ };
    const suffix = suffixes[this.types.get(family) as keyof typeof suffixes];
    assert.equal(suffix === undefined ? name : name.replace(suffix, ''), family, `${name} is in no family`);
    const number = value === '+Inf' ? Infinity : Number(value);
    assert.ok(!Number.isNaN(number), line);
    this.samples.push({ name, labels: labelsOf(inside), value: number });
    return family;
  }

  #check(name: string, type: string): void {
    const samples = this.samples.filter(
      (sample) => sample.name === name || sample.name.startsWith(`${name}_`),
    );
    assert.ok(samples.length > 0, `${name} has no sample`);
    if (type === 'histogram') this.#checkHistogram(name);
    if (!name.startsWith('frontdoor_')) return;
    assert.match(this.helps.get(name) ?? '', /^[A-Z].{8,}[^.]$/, `${name} has a sentence of help`);
    assert.equal(
      name.endsWith('_total'),
      type === 'counter',
      `${name}: counters end in _total, and nothing else`,
    );
    assert.doesNotMatch(
      name,
      /_(?:milliseconds|ms|kilobytes|minutes|gauge|counter|summary|histogram)(?:_|$)/,
    );
    if (type === 'gauge') assert.doesNotMatch(name, /_(?:count|sum|bucket)$/);
    for (const { name: sample, value } of samples)
      if (type === 'counter') assert.ok(value >= 0, `${sample} is negative`);
  }

  #checkHistogram(name: string): void {
    let last: PrometheusSample | undefined;
    for (const sample of this.samples.filter((one) => one.name === `${name}_bucket`)) {
      const isSame = last !== undefined && last.labels['le'] !== '+Inf';
      assert.ok(!isSame || last!.value <= sample.value, `${name} does not grow from bucket to bucket`);
      last = sample;
    }
    assert.equal(last?.labels['le'], '+Inf', `${name} ends with +Inf`);
  }
}

function labelsOf(inside: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  const rest = inside.replaceAll(
    /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)",?/g,
    (_all, label: string, text: string) => {
      labels[label] = text.replaceAll(/\\(.)/g, (_pair, char) => (char === 'n' ? '\n' : String(char)));
      return '';
    },
  );
  assert.equal(rest, '', `labels: ${inside}`);
  return labels;
}
