/** The answers that a gateway gives for paths of a share, by the path of a request. ADR 0092. */
import { decodedPath, pathReadings, queryOfTarget } from '#domain';
import type { GatewayAnswer } from '#domain/upstream';

interface Rule {
  readonly answer: GatewayAnswer;
  /** A path, or the begin of all paths below one, which ends with a slash. In canonical form, and without escapes. */
  readonly forms: readonly [canonical: string, plain: string];
  readonly isPrefix: boolean;
}

export interface FoundAnswer {
  readonly answer: GatewayAnswer;
  /** The address of a redirect. */
  readonly location: string | undefined;
}

export class OwnAnswers {
  /** Those for one path first, then those for many, the longest first. */
  readonly #rules: readonly Rule[];

  constructor(answers: readonly GatewayAnswer[]) {
    const rules = answers.map((answer): Rule => {
      const isPrefix = answer.path.endsWith('/*');
      const path = isPrefix ? answer.path.slice(0, -1) : answer.path;
      return { answer, forms: [path, decodedPath(path)], isPrefix };
    });
    this.#rules = rules.toSorted(
      (a, b) => Number(a.isPrefix) - Number(b.isPrefix) || b.forms[0].length - a.forms[0].length,
    );
  }

  /** Returns undefined if the service answers. A target that servers read as paths with different answers is ambiguous. */
  find(target: string): FoundAnswer | 'ambiguous' | undefined {
    const readings = pathReadings(target);
    if (readings === undefined) return 'ambiguous';
    const found = new Set(readings.map((reading) => this.#ruleOf(reading)));
    const [rule] = found;
    if (found.size > 1) return 'ambiguous';
    if (rule === undefined) return undefined;
    const { answer, forms, isPrefix } = rule;
    const { location } = answer;
    if (location === undefined || !isPrefix || !location.endsWith('/*')) return { answer, location };
    // Where an unclear rest leads is not known.
    if (readings.length > 1) return 'ambiguous';
    const rest = readings[0]!.slice(forms[0].length);
    return { answer, location: location.slice(0, -1) + rest + queryOfTarget(target) };
  }

  #ruleOf(path: string): Rule | undefined {
    return this.#rules.find(({ forms, isPrefix }) =>
      forms.some((form) => (isPrefix ? path.startsWith(form) : path === form)),
    );
  }
}
