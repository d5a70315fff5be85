/**
 * Converts an API's error response to an error: the kind by its status, code and message by its body in either of
 * our two forms.
 */
import { definedFields, ERROR_KINDS, FrontdoorError, type ErrorKind } from '#base';
import type { JsonAnswer } from '#net/http';

const MAX_MESSAGE_CHARS = 500;

/** `hop` names the server for the reader, such as `the edge API at https://…`. */
export function failureOf(answer: JsonAnswer, hop: string): FrontdoorError {
  const { code, message } = bodyOf(answer);
  const said = `${hop} answered ${answer.status}${message === undefined ? '' : `: ${message}`}`;
  return new FrontdoorError(kindOf(answer), code ?? `http-${answer.status}`, said);
}

/** The refusal of what an operator requested: the sentence of the server, where it sent one. */
export function refusalOf(answer: JsonAnswer, hop: string): FrontdoorError {
  const { code, message } = bodyOf(answer);
  if (code === undefined || message === undefined || answer.status >= 500) return failureOf(answer, hop);
  return new FrontdoorError(kindOf(answer), code, message);
}

function kindOf({ status }: JsonAnswer): ErrorKind {
  const kinds = Object.keys(ERROR_KINDS) as ErrorKind[];
  return kinds.find((one) => ERROR_KINDS[one].status === status) ?? 'badGateway';
}

function bodyOf(answer: JsonAnswer): { readonly code?: string; readonly message?: string } {
  const body = (answer.json ?? {}) as { error?: unknown; message?: unknown };
  const inner =
    typeof body.error === 'object' && body.error !== null ? (body.error as Record<string, unknown>) : {};
  const code = inner['code'] ?? body.error;
  const message = inner['message'] ?? body.message;
  return definedFields({
    code: typeof code === 'string' && code !== '' ? code : undefined,
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_CHARS) : undefined,
  });
}
