/**
 * Converts an API's error response to an error: the kind by its status, code and message by its body in either of
 * our two forms.
 */
import { ERROR_KINDS, FrontdoorError, type ErrorKind } from '#base';
import type { JsonAnswer } from '#net/http';

/** `hop` names the server for the reader, such as `the edge API at https://…`. */
export function failureOf(answer: JsonAnswer, hop: string): FrontdoorError {
  const kinds = Object.keys(ERROR_KINDS) as ErrorKind[];
  const kind = kinds.find((one) => ERROR_KINDS[one].status === answer.status) ?? 'badGateway';
  const body = (answer.json ?? {}) as { error?: unknown; message?: unknown };
  const inner =
    typeof body.error === 'object' && body.error !== null ? (body.error as Record<string, unknown>) : {};
  const code = inner['code'] ?? body.error;
  const message = inner['message'] ?? body.message;
  return new FrontdoorError(
    kind,
    typeof code === 'string' && code !== '' ? code : `http-${answer.status}`,
    `${hop} answered ${answer.status}${typeof message === 'string' ? `: ${message.slice(0, 500)}` : ''}`,
  );
}
