/** What an import could not carry over, and what is wrong in the file: both with the line, the key and a remedy. */
import type { FilePosition, FileProblem, ValuePath } from '#base/shapes';

export interface ImportRemark {
  readonly line: number;
  /** Such as `ingress[0].originRequest.proxyType`. */
  readonly key: string;
  /** What to do instead. It repeats no value of the file, because values may be secrets. */
  readonly advice: string;
}

export interface ImportPlaces {
  readonly positionOf: (path: ValuePath) => FilePosition;
  /** The name of a place; by default its keys. */
  readonly labelOf?: (path: ValuePath) => string;
}

export class ImportNotes {
  readonly #remarks = new Map<string, ImportRemark>();
  readonly #problems: FileProblem[] = [];
  readonly #positionOf: (path: ValuePath) => FilePosition;

  readonly #labelOf: (path: ValuePath) => string;

  constructor({ positionOf, labelOf = keyText }: ImportPlaces) {
    this.#positionOf = positionOf;
    this.#labelOf = labelOf;
  }

  lineOf(path: ValuePath): number {
    return this.#positionOf(path).line;
  }

  /** Drops advice that the key already has. */
  remark(path: ValuePath, advice: string): void {
    const key = this.#labelOf(path);
    this.#remarks.set(`${key} ${advice}`, { line: this.lineOf(path), key, advice });
  }

  problem(path: ValuePath, message: string): void {
    const { line, column } = this.#positionOf(path);
    this.#problems.push({ severity: 'error', path: this.#labelOf(path), line, column, message });
  }

  get remarks(): readonly ImportRemark[] {
    return [...this.#remarks.values()].sort((a, b) => a.line - b.line);
  }

  get problems(): readonly FileProblem[] {
    return this.#problems;
  }
}

/** Numbers are places in lists. */
export function keyText(path: ValuePath): string {
  return path.reduce((text, part) => {
    if (/^[0-9]+$/.test(part)) return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}
