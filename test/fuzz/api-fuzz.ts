/**
 * Our own fuzzing of the Management API: hostile requests to every operation, each answer held to the API's own
 * description. Bounded by a number of requests for each operation, named by a seed.
 */
import fc from 'fast-check';
import { messageOf } from '#base';
import type { OpenApiDocument } from '#contract';
import { within } from '../support/deadline.ts';
import type { FuzzAnswer, FuzzRequest, FuzzServer } from './fuzz-server.ts';
import { fuzzedOperations, requestsFor, resolverOf, type FuzzedOperation } from './hostile-requests.ts';

export interface FuzzFinding {
  readonly operation: string;
  readonly problem: string;
}

export interface FuzzResult {
  readonly operations: number;
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** The first of each operation, shrunk. */
  readonly findings: readonly FuzzFinding[];
}

const MAX_SHOWN = 600;
/** A correct caller is answered within this time, no matter what others send. */
const PATIENCE_MS = 5_000;

export async function fuzzApi(
  server: FuzzServer,
  { seed, runs }: { readonly seed: number; readonly runs: number },
): Promise<FuzzResult> {
  const document = await descriptionOf(server);
  const resolve = resolverOf(document);
  const operations = fuzzedOperations(document);
  const statuses = new Map<number, number>();
  const findings: FuzzFinding[] = [];
  let requests = 0;
  for (const operation of operations) {
    const property = fc.asyncProperty(requestsFor(operation, resolve, server), async (request) => {
      const answer = await server.send(request);
      requests += 1;
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const problem = problemOf(operation, answer);
      if (problem !== undefined) throw new Error(`${problem}\n${shown(request, answer)}`);
    });
    const details = await fc.check(property, { seed, numRuns: runs, endOnFailure: false });
    if (details.failed) {
      const { errorInstance } = details;
      const problem = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
      findings.push({ operation: operation.id, problem });
    }
    const harm = await harmOf(server);
    if (harm !== undefined) findings.push({ operation: operation.id, problem: harm });
  }
  return { operations: operations.length, requests, statuses, findings };
}

export async function descriptionOf(server: FuzzServer): Promise<OpenApiDocument> {
  const { text } = await server.send({
    method: 'GET',
    target: '/openapi.json',
    headers: {},
    body: undefined,
  });
  return JSON.parse(text) as OpenApiDocument;
}

/** Returns the deviation of an answer from the description, or undefined. */
function problemOf({ answers }: FuzzedOperation, answer: FuzzAnswer): string | undefined {
  const mediaTypes = answers.get(answer.status);
  if (answer.status >= 500) return `${answer.status} is a failure of Frontdoor`;
  if (mediaTypes === undefined) return `${answer.status} is not documented`;
  if (answer.status >= 400) return refusalProblem(answer);
  const [mediaType = ''] = answer.contentType.split(';');
  if (mediaTypes.length === 0) return answer.text === '' ? undefined : `${answer.status} has a body`;
  if (!mediaTypes.includes(mediaType)) return `${mediaType} is not documented for ${answer.status}`;
  return undefined;
}

/** A refusal is exactly two strings. */
export function refusalProblem({ text, contentType }: FuzzAnswer): string | undefined {
  if (!contentType.startsWith('application/json')) return `a refusal as ${contentType}`;
  const body = JSON.parse(text) as Record<string, unknown>;
  const names = Object.keys(body).sort().join();
  if (names !== 'error,message') return `a refusal with the fields ${names}`;
  if (typeof body['error'] !== 'string' || typeof body['message'] !== 'string')
    return 'a refusal that is not of strings';
  return undefined;
}

/** What the last requests did to others: to this process, and to a caller that does nothing wrong. */
async function harmOf({ send, authorization, errors }: FuzzServer): Promise<string | undefined> {
  if (Object.keys(Object.prototype).length > 0 || ({} as { polluted?: unknown }).polluted !== undefined)
    return 'the prototype of all objects has got a property';
  const asked = send({ method: 'GET', target: '/caller', headers: { authorization }, body: undefined });
  const answer = await within('an answer to another caller', asked, PATIENCE_MS).catch(messageOf);
  if (typeof answer === 'string') return `afterwards: ${answer}`;
  if (answer.status !== 200) return `afterwards another caller got ${answer.status}`;
  const logged = errors.splice(0);
  return logged.length === 0 ? undefined : `logged: ${logged.join('; ').slice(0, MAX_SHOWN)}`;
}

function shown(request: FuzzRequest, answer: FuzzAnswer): string {
  const { method, target, headers, body } = request;
  const asked = `${method} ${target.slice(0, MAX_SHOWN)} ${JSON.stringify(withoutSecret(headers)).slice(0, MAX_SHOWN)}`;
  return `${asked} ${body?.slice(0, MAX_SHOWN) ?? ''}\n→ ${answer.status} ${answer.text.slice(0, MAX_SHOWN)}`;
}

function withoutSecret(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isLong = (headers['authorization']?.length ?? 0) > 60;
  return isLong ? { ...headers, authorization: '…' } : headers;
}
