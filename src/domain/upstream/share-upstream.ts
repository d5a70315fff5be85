/**
 * How requests of a share reach its service: one schema for the API, the store and agents. A new field needs its row here, its
 * default, and what gateways (`gateway-upstream.ts`) make of it. ADR 0087.
 */
import type { Static } from 'typebox';
import { compileReader, Part, Type } from '#base/shapes';
import { HOST_HEADER_RULE, parseHostHeader } from './host-header.ts';

/** Formats are those of the contract, which checks them; `checkUpstream` does for the other sources. */
export const shareUpstreamFields = {
  hostHeader: Type.String({
    format: 'upstream-host',
    description:
      'Host header of requests to the service. `preserve`: the host that the client requested; `target`: the host of the target; otherwise this name, with or without a port',
  }),
  lenient: Type.Boolean({
    description:
      'Whether responses may have obsolete forms that old devices send: lines that end without CR, headers that continue on the next line, a space before a colon, the same Content-Length twice. The gateway corrects them',
  }),
};

const wholeSchema = Part.closed(shareUpstreamFields);
export type ShareUpstream = Readonly<Static<typeof wholeSchema>>;

/** Absent fields keep their values, or have their defaults if everything is replaced. */
export const shareUpstreamChangeSchema = Part.closed(Part.optional(shareUpstreamFields));
export type ShareUpstreamChange = Readonly<Static<typeof shareUpstreamChangeSchema>>;

export const DEFAULT_UPSTREAM: ShareUpstream = { hostHeader: 'preserve', lenient: false };

/** A field that another version stored is not in the schema, and dropped. */
const readStored = compileReader(Type.Object(Part.optional(shareUpstreamFields)));

/** Returns the settings of a stored text, or undefined if it cannot be read. */
export function storedUpstream(text: string): ShareUpstream | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const read = readStored(value);
  if (!('value' in read) || checkUpstream(read.value).length > 0) return undefined;
  return changedUpstream(DEFAULT_UPSTREAM, read.value);
}

/** `change` has passed `checkUpstream`. */
export function changedUpstream(before: ShareUpstream, change: ShareUpstreamChange): ShareUpstream {
  const { hostHeader, lenient = before.lenient } = change;
  return {
    hostHeader: hostHeader === undefined ? before.hostHeader : parseHostHeader(hostHeader)!,
    lenient,
  };
}

/** The fields of both have one order, because `changedUpstream` made them. */
export function isSameUpstream(a: ShareUpstream, b: ShareUpstream): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether settings have the wanted fields. Absent settings are the defaults. */
export function hasUpstream(settings: ShareUpstreamChange, wanted: ShareUpstreamChange): boolean {
  const standing = changedUpstream(DEFAULT_UPSTREAM, settings);
  return isSameUpstream(changedUpstream(standing, wanted), standing);
}

/** A setting that is not valid, by its field and the rule that it breaks, which completes "must be …". */
export interface UpstreamProblem {
  readonly field: string;
  readonly rule: string;
}

/** Checks what the schema does not express, for settings from a file or a command line as well. */
export function checkUpstream({ hostHeader }: ShareUpstreamChange): readonly UpstreamProblem[] {
  if (hostHeader === undefined || parseHostHeader(hostHeader) !== undefined) return [];
  return [{ field: 'hostHeader', rule: HOST_HEADER_RULE }];
}
