/** The explanation of a request's access decision for people: the decision first, then each step that led to it. */
import { printable } from '#base/terminal';
import type { AccessExplanationAnswer } from '#contract/schemas';

const DECISIONS: Readonly<Record<AccessExplanationAnswer['decision'], string>> = {
  allow: 'admitted',
  login: 'sent to sign in',
  unauthenticated: 'refused: not authenticated',
  refuse: 'refused',
  unavailable: 'refused for now',
};
const OUTCOMES = { passed: 'ok', decided: '=>', skipped: '-' } as const;

export function explanationText({ decision, status, reason, steps }: AccessExplanationAnswer): string {
  const answered = status === null ? 'the service answers' : `${status}`;
  const width = Math.max(0, ...steps.map(({ rule }) => rule.length));
  const lines = steps.map(
    ({ rule, outcome, detail }) =>
      `  ${OUTCOMES[outcome].padEnd(2)}  ${rule.padEnd(width)}  ${printable(detail)}`,
  );
  return `${DECISIONS[decision]} (${answered}, ${printable(reason)})\n${lines.join('\n')}\n`;
}
