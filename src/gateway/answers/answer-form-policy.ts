/**
 * The form in which a client gets a failure: a page for browsers, JSON for programs that ask for it and for scripts of pages, plain
 * text for everyone else. RFC 9110 §12.5.1, as far as these forms need it. Pure.
 */

export type AnswerForm = 'page' | 'json' | 'problem' | 'text';

/** What a request says about the form of its answer. */
export interface FormWish {
  /** The value of Accept; '' if there is none. */
  readonly accept: string;
  /** Whether a script of a page sent the request, with `fetch` or XMLHttpRequest. */
  readonly isScript: boolean;
}

const PAGE = /^(?:text\/html|application\/xhtml\+xml)$/;
const PROBLEM = /^application\/problem\+json$/;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json$/;
/** A longer list is judged by its first ranges. */
const MAX_RANGES = 50;

/** A page is preferred where a client wants it as much as JSON. */
export function answerForm({ accept, isScript }: FormWish): AnswerForm {
  const wanted = { page: 0, json: 0, problem: 0 };
  for (const range of accept.toLowerCase().split(',', MAX_RANGES)) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const kind = kindOf(type);
    if (kind !== undefined) wanted[kind] = Math.max(wanted[kind], qualityOf(parameters));
  }
  const json = Math.max(wanted.json, wanted.problem);
  if (wanted.page > 0 && wanted.page >= json) return 'page';
  if (json > 0) return wanted.problem > wanted.json ? 'problem' : 'json';
  return isScript ? 'json' : 'text';
}

function kindOf(type: string): 'page' | 'json' | 'problem' | undefined {
  if (PAGE.test(type)) return 'page';
  if (PROBLEM.test(type)) return 'problem';
  return JSON_TYPE.test(type) ? 'json' : undefined;
}

/** A weight that cannot be read counts as the highest. */
function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(given) ? Number(given) : 1;
}
