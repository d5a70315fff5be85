/**
 * Services by path and answers of the gateway, as a person edits them. An entry that nobody changed is sent as it was stored, and a
 * field of an entry that this console does not know stays. Pure.
 */
import type { ShareUpstreamAnswer } from '#contract/schemas';

type Route = ShareUpstreamAnswer['routes'][number];
type Answer = ShareUpstreamAnswer['answers'][number];

interface PathDraft<Entry> {
  /** Undefined for a new entry. */
  readonly stored: Entry | undefined;
  readonly path: string;
}

export interface RouteDraft extends PathDraft<Route> {
  readonly target: string;
  readonly stripPath: boolean;
}

export interface AnswerDraft extends PathDraft<Answer> {
  readonly kind: 'text' | 'redirect';
  readonly text: string;
  readonly contentType: string;
  readonly redirectTo: string;
  readonly status: string;
}

export const NEW_ROUTE: RouteDraft = { stored: undefined, path: '', target: '', stripPath: false };
export const NEW_ANSWER: AnswerDraft = {
  stored: undefined,
  path: '',
  kind: 'text',
  text: '',
  contentType: '',
  redirectTo: '',
  status: '',
};

export function routeDraftOf(stored: Route): RouteDraft {
  const { path, target, stripPath = false } = stored;
  return { stored, path, target, stripPath };
}

export function answerDraftOf(stored: Answer): AnswerDraft {
  const { path, text = '', contentType = '', redirectTo, status } = stored;
  return {
    stored,
    path,
    kind: redirectTo === undefined ? 'text' : 'redirect',
    text,
    contentType,
    redirectTo: redirectTo ?? '',
    status: status === undefined ? '' : String(status),
  };
}

export function routeValueOf(draft: RouteDraft): object {
  const { stored, path, target, stripPath } = draft;
  if (stored !== undefined && isSame(routeDraftOf(stored), draft)) return stored;
  const isDefault = !stripPath && stored?.stripPath === undefined;
  return defined({
    ...stored,
    path: path.trim(),
    target: target.trim(),
    stripPath: isDefault ? undefined : stripPath,
  });
}

export function answerValueOf(draft: AnswerDraft): object {
  const { stored, path, kind, text, redirectTo } = draft;
  if (stored !== undefined && isSame(answerDraftOf(stored), draft)) return stored;
  const [contentType, status] = [draft.contentType.trim(), draft.status.trim()];
  const isText = kind === 'text';
  return defined({
    ...stored,
    path: path.trim(),
    text: isText ? withLineEnds(text, stored?.text) : undefined,
    contentType: isText && contentType !== '' ? contentType : undefined,
    redirectTo: isText ? undefined : redirectTo.trim(),
    // The API refuses what is no number, by the name of the field.
    status: status === '' ? undefined : /^\d+$/.test(status) ? Number(status) : status,
  });
}

/** The order in which gateways match paths, the longest first. New entries come last, because their paths are being typed. */
export function compareRoutes(a: RouteDraft, b: RouteDraft): number {
  return storedLength(b) - storedLength(a);
}

/** Single paths come before those that end with `/*`, of which the longest is first. */
export function compareAnswers(a: AnswerDraft, b: AnswerDraft): number {
  return Number(isForOne(b)) - Number(isForOne(a)) || (isForOne(a) ? 0 : storedLength(b) - storedLength(a));
}

const storedLength = ({ stored }: PathDraft<Route | Answer>): number => stored?.path.length ?? 0;
const isForOne = ({ stored }: AnswerDraft): boolean => stored !== undefined && !stored.path.endsWith('/*');

/** A text field makes LF of every line end. */
function withLineEnds(text: string, stored: string | undefined): string {
  const hasCrLf = stored !== undefined && /\r\n/.test(stored) && !/(?<!\r)\n/.test(stored);
  return hasCrLf ? text.replaceAll(/\r?\n/g, '\r\n') : text;
}

function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
