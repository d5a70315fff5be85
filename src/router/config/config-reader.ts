/**
 * Reads values of a YAML document by path and collects what is wrong with them, each with its line. It knows no
 * section: `router-config.ts` says what stands where.
 */
import { isMap, isNode, isScalar, visit, type Document, type LineCounter } from 'yaml';
import { nearestNames } from '#base';
import { parseAddress, type OverlayAddress } from '#wire';
import { parseGoDuration } from './go-duration.ts';
import { SECTION_KEYS } from './section-key-table.ts';

export interface ConfigProblem {
  /** `listeners[0].options.advertise`; the root is ''. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export class ConfigReader {
  readonly problems: ConfigProblem[] = [];
  /** What is odd but does no harm. */
  readonly warnings: ConfigProblem[] = [];
  readonly #root: unknown;
  readonly #document: Document;
  readonly #lines: LineCounter;

  /** `root`: the document's value after substitution. */
  constructor(root: unknown, document: Document, lines: LineCounter) {
    this.#root = root;
    this.#document = document;
    this.#lines = lines;
    this.#warnOfDoubleKeys();
  }

  problem(path: string, message: string): void {
    this.problems.push({ path, line: this.#lineOf(path), message });
  }

  warning(path: string, message: string): void {
    this.warnings.push({ path, line: this.#lineOf(path), message });
  }

  value(path: string): unknown {
    let value = this.#root;
    for (const step of stepsOf(path)) {
      if (value === null || typeof value !== 'object') return undefined;
      value = (value as Record<string | number, unknown>)[step];
    }
    return value ?? undefined;
  }

  has(path: string): boolean {
    return this.value(path) !== undefined;
  }

  /** True when a map stands there; its keys are held to the table. Anything else but nothing is a problem. */
  map(path: string): boolean {
    const value = this.value(path);
    if (value === undefined) return false;
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      this.problem(path, `must be a map, not ${JSON.stringify(value)}`);
      return false;
    }
    this.#checkKeys(path, Object.keys(value));
    return true;
  }

  list(path: string): unknown[] {
    const value = this.value(path);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.problem(path, `must be a list, not ${JSON.stringify(value)}`);
    return [];
  }

  texts(path: string): string[] {
    return this.list(path).map((_item, i) => this.requiredText(`${path}[${i}]`));
  }

  text(path: string): string | undefined {
    const value = this.value(path);
    if (value === undefined || typeof value === 'string') return value;
    this.problem(path, `must be a string, not ${JSON.stringify(value)}`);
    return undefined;
  }

  requiredText(path: string): string {
    const text = this.text(path);
    if (!this.has(path) || text === '') this.problem(path, 'is required');
    return text ?? '';
  }

  duration(path: string, defaultMs: number, minMs = 0, maxMs = Number.MAX_SAFE_INTEGER): number {
    const text = this.text(path);
    if (text === undefined) return defaultMs;
    const ms = parseGoDuration(text);
    if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
    const upper = maxMs === Number.MAX_SAFE_INTEGER ? '' : ` to ${maxMs} ms`;
    const bounds = minMs === 0 && upper === '' ? '' : ` from ${minMs} ms${upper}`;
    this.problem(path, `must be a duration such as 5s${bounds}, not "${text}"`);
    return defaultMs;
  }

  integer(path: string, defaultValue: number, min: number, max: number): number {
    const value = this.value(path);
    if (value === undefined) return defaultValue;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    this.problem(path, `must be an integer from ${min} to ${max}, not ${JSON.stringify(value)}`);
    return defaultValue;
  }

  address(path: string): OverlayAddress | undefined {
    const text = this.requiredText(path);
    if (text === '') return undefined;
    const address = parseAddress(text);
    if (address === undefined) this.problem(path, `must be an address such as tls:host:6262, not "${text}"`);
    return address;
  }

  hostPort(path: string): { host: string; port: number } | undefined {
    const text = this.requiredText(path);
    if (text === '') return undefined;
    const address = parseAddress(text.startsWith('tls:') ? text : `tls:${text}`);
    if (address !== undefined && address.host !== '') return { host: address.host, port: address.port };
    this.problem(path, `must be <host>:<port>, not "${text}"`);
    return undefined;
  }

  #checkKeys(path: string, keys: readonly string[]): void {
    const known = SECTION_KEYS[path.replaceAll(/\[\d+\]/g, '[]')];
    if (known === undefined) return;
    const { acted, later = [], withoutEffect = [] } = known;
    for (const key of keys) {
      const at = path === '' ? key : `${path}.${key}`;
      if (acted.includes(key)) continue;
      if (later.includes(key)) this.problem(at, 'is not supported by this version');
      else if (withoutEffect.includes(key)) this.warning(at, 'has no effect');
      else {
        const [nearest] = nearestNames(key, [...acted, ...later], 1);
        this.warning(at, `is unknown and has no effect; the nearest known key is ${nearest}`);
      }
    }
  }

  /** As OpenZiti has it, the last of equal keys wins. */
  #warnOfDoubleKeys(): void {
    visit(this.#document, {
      Map: (_key, map) => {
        const seen = new Set<string>();
        for (const { key } of map.items) {
          if (!isScalar(key)) continue;
          const name = String(key.value);
          if (seen.has(name)) {
            const line = this.#lines.linePos(key.range?.[0] ?? 0).line;
            this.warnings.push({ path: name, line, message: 'stands twice in one map: the last one holds' });
          }
          seen.add(name);
        }
      },
    });
  }

  /** The line of the key at `path`; of the nearest place above when it is missing. */
  #lineOf(path: string): number {
    const steps = stepsOf(path);
    for (let depth = steps.length; depth > 0; depth -= 1) {
      const parent =
        depth === 1 ? this.#document.contents : this.#document.getIn(steps.slice(0, depth - 1), true);
      const step = steps[depth - 1];
      const pair = isMap(parent)
        ? parent.items.findLast(({ key }) => isScalar(key) && String(key.value) === String(step))
        : undefined;
      const node = pair?.key ?? this.#document.getIn(steps.slice(0, depth), true);
      if (isNode(node) && node.range) return this.#lines.linePos(node.range[0]).line;
    }
    return 1;
  }
}

function stepsOf(path: string): (string | number)[] {
  return path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}
