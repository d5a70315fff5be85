/**
 * Creations that a caller may repeat without creating a second resource: with an `Idempotency-Key`, the response
 * is stored in the transaction of the change and returned again, secrets included. It is encrypted with the key
 * file and the caller's key together, so that neither alone decrypts it. Refusals are not stored, so that the
 * request can be corrected and repeated.
 */
import { FrontdoorError } from '#base';
import { jsonReader, Part, Type } from '#base/shapes';
import { findKeptAnswer, keepAnswer, type KeptAnswer, type KeyedRequest } from './idempotency-store.ts';
import type { StoreTransaction, Touch } from '../../store/mod.ts';
import { change, type ApiAnswer, type Call, type ChangeParts, type Changed } from './call.ts';

/**
 * One transaction with its audit event and its response. A repeated request changes nothing and gets the first
 * response.
 */
export async function creation<T, Body>(
  parts: ChangeParts,
  call: Call,
  work: (trx: StoreTransaction, touch: Touch) => Promise<Changed<T>>,
  answerOf: (result: T) => ApiAnswer<Body> | Promise<ApiAnswer<Body>>,
): Promise<ApiAnswer<Body>> {
  const key = call.request.headers['idempotency-key'];
  if (typeof key !== 'string') return answerOf(await change(parts, call, work));
  const { secrets, clock } = parts;
  const request = keyedRequestOf(parts, call, key);
  return change<ApiAnswer<Body>>(parts, call, async (trx, touch) => {
    const kept = await findKeptAnswer(trx, request, clock.nowMs());
    if (kept !== undefined) return { result: replayOf<Body>(parts, call, kept, key) };
    const { result, ...rest } = await work(trx, touch);
    const answer = await answerOf(result);
    await keepAnswer(trx, request, secrets.seal(JSON.stringify(answer), key), clock.nowMs());
    return { ...rest, result: answer };
  });
}

const readAnswer = jsonReader(
  Type.Object({
    status: Type.Integer(),
    body: Type.Optional(Type.Unknown()),
    headers: Part.withDefault(Part.mapOf(Part.text()), {}),
  }),
);

function keyedRequestOf({ secrets }: ChangeParts, call: Call, key: string): KeyedRequest {
  const { kind, id, organizationId } = call.principal;
  return {
    id: secrets.hmac(JSON.stringify(['idempotency key', kind, id, call.operation.id, key])),
    organizationId,
    requestHmac: secrets.hmac(askedText(call)),
  };
}

function askedText({ parameters, body }: Call): string {
  return `idempotent request ${JSON.stringify([parameters, body ?? null], inOrder)}`;
}

/** Replacer for JSON.stringify, which makes the text independent of the order of fields. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Throws `conflict` if the key was used for another request, and if what is stored is damaged. */
function replayOf<Body>(
  { secrets }: ChangeParts,
  call: Call,
  kept: KeptAnswer,
  key: string,
): ApiAnswer<Body> {
  if (!secrets.matches(askedText(call), kept.requestHmac)) {
    const message = 'The Idempotency-Key belongs to another request: each request needs one of its own';
    throw new FrontdoorError('conflict', 'idempotency-key-reused', message);
  }
  const { body, ...answer } = readAnswer(secrets.unseal(kept.answerSealed, key));
  // Sealed by the same operation for the same caller, which the key of the row contains.
  return { ...answer, body: body as Body, headers: { ...answer.headers, 'idempotency-replayed': 'true' } };
}
