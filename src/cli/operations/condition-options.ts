/** The options for entity tags and idempotency keys, on the commands whose operations have them. */
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

/** As commander names the values of these options. */
export interface ConditionFlags {
  readonly ifMatch?: string;
  readonly idempotencyKey?: string;
  /** Print the entity tag alone. */
  readonly etag?: boolean;
}

export function conditionOptions(operation: Operation): Option[] {
  const options: Option[] = [];
  if (operation.method === 'GET' && entityTagKindOf(operation) !== undefined) options.push(etagOption());
  if (takesIfMatch(operation)) options.push(ifMatchOption());
  if (takesIdempotencyKey(operation)) options.push(idempotencyKeyOption());
  return options;
}

/** The part of the request that these options make. Each creation has a key: a new one when none is given. */
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
  return new Option('--etag', 'print only the ETag, which --if-match takes').conflicts('json');
}

function ifMatchOption(): Option {
  return new Option(
    '--if-match <etag>',
    'do it only if the ETag is still this one, and fail with status 6 otherwise; "*" stands for any; ' +
      'for example \'"q83vASNFZ4mrze8BI0VniQ"\'',
  ).argParser(textOf(/^[\x20-\x7E]+$/, 'must be an ETag with its quotes, as --etag prints it, or *.'));
}

function idempotencyKeyOption(): Option {
  return new Option(
    '--idempotency-key <key>',
    'the same command with the same key takes effect once in 24 hours; a new key when not given; ' +
      'for example deploy-417-5f0c9a1e',
  ).argParser(textOf(IDEMPOTENCY_KEY_FORM, 'must be 1 to 255 visible ASCII characters without spaces.'));
}

function textOf(form: RegExp, complaint: string): (text: string) => string {
  return (text) => {
    if (form.test(text)) return text;
    throw new InvalidArgumentError(complaint);
  };
}
