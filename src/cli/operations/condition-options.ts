/** Options for entity tags and idempotency keys, for the commands whose operations support them. */
import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, Option } from 'commander';
import {
  entityTagKindOf,
  IDEMPOTENCY_KEY_FORM,
  takesIdempotencyKey,
  takesIfMatch,
  type Operation,
} from '#contract';
import type { ManagementRequest } from '../management-client.ts';

/** Option values under the names that commander gives them. */
export interface ConditionFlags {
  readonly ifMatch?: string;
  readonly idempotencyKey?: string;
  /** Whether to print only the entity tag. */
  readonly etag?: boolean;
}

export function conditionOptions(operation: Operation): Option[] {
  const options: Option[] = [];
  if (operation.method === 'GET' && entityTagKindOf(operation) !== undefined) options.push(etagOption());
  if (takesIfMatch(operation)) options.push(ifMatchOption());
  if (takesIdempotencyKey(operation)) options.push(idempotencyKeyOption());
  return options;
}

/** Returns the part of the request that these options set. Each creation has a key, by default a new one. */
export function conditionsOf(
  operation: Operation,
  { ifMatch, idempotencyKey }: ConditionFlags,
): Pick<ManagementRequest, 'ifMatch' | 'idempotencyKey'> {
  return {
    ifMatch,
    idempotencyKey: takesIdempotencyKey(operation) ? (idempotencyKey ?? randomUUID()) : undefined,
  };
}

function etagOption(): Option {
  return new Option('--etag', 'print only the ETag, for use with --if-match').conflicts('json');
}

function ifMatchOption(): Option {
  return new Option(
    '--if-match <etag>',
    'fail with status 6 unless the resource still has this ETag; "*" matches any; ' +
      'for example \'"q83vASNFZ4mrze8BI0VniQ"\'',
  ).argParser(textOf(/^[\x20-\x7E]+$/, 'must be an ETag with its quotes, as --etag prints it, or *.'));
}

function idempotencyKeyOption(): Option {
  return new Option(
    '--idempotency-key <key>',
    'repeated commands with the same key take effect once within 24 hours; default: a new key; ' +
      'for example deploy-417-5f0c9a1e',
  ).argParser(textOf(IDEMPOTENCY_KEY_FORM, 'must be 1 to 255 visible ASCII characters without spaces.'));
}

function textOf(form: RegExp, complaint: string): (text: string) => string {
  return (text) => {
    if (form.test(text)) return text;
    throw new InvalidArgumentError(complaint);
  };
}
