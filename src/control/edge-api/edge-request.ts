/** Parses requests: JSON bodies, pages, filters. Refuses with OpenZiti's codes. */
import type { FastifyRequest } from 'fastify';
import { couldNotValidate } from './edge-answer.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;

export interface PageRange {
  readonly limit: number;
  readonly offset: number;
}

/** Returns undefined for an empty body. */
export function jsonBody(request: FastifyRequest): unknown {
  const text = textBody(request);
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Refused below.
  }
  throw couldNotValidate('the body is not a JSON object');
}

export function textBody(request: FastifyRequest): string {
  return typeof request.body === 'string' ? request.body : '';
}

/** A `limit` above 500 is treated as 500. */
export function pageOf(query: URLSearchParams): PageRange {
  return {
    limit: Math.min(MAX_LIMIT, wholeNumber(query, 'limit', DEFAULT_LIMIT, 1)),
    offset: wholeNumber(query, 'offset', 0, 0),
  };
}

/** Returns the name of a filter `name="x"`, the only form that clients send, or undefined without a filter. */
export function nameFilterOf(query: URLSearchParams): string | undefined {
  const filter = query.get('filter');
  if (filter === null || filter.trim() === '' || filter.trim() === 'true') return undefined;
  const name = /^\s*name\s*=\s*"([^"\\]{0,255})"\s*$/.exec(filter)?.[1];
  if (name === undefined) throw couldNotValidate('the filter is not of the form name="<name>"');
  return name;
}

function wholeNumber(query: URLSearchParams, name: string, fallback: number, least: number): number {
  const text = query.get(name);
  if (text === null || text === '') return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least)) throw couldNotValidate(`${name} is not a whole number of at least ${least}`);
  return value;
}
