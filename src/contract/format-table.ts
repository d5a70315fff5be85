/** The string formats that the contract's schemas use, with their checks and what refusals call them. */
import { isShareName, isUuid, parseName, parseShareTarget } from '#domain';

export interface StringFormat {
  readonly check: (text: string) => boolean;
  /** The word after "must be of". */
  readonly saidAs: string;
}

export const stringFormats = {
  uuid: { check: isUuid, saidAs: 'UUID' },
  name: { check: (text) => parseName(text) !== undefined, saidAs: 'string' },
  'share-name': { check: isShareName, saidAs: 'string' },
  'share-target': { check: (text) => parseShareTarget(text) !== undefined, saidAs: 'uri' },
  uri: { check: (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text), saidAs: 'uri' },
  'date-time': { check: (text) => !Number.isNaN(Date.parse(text)), saidAs: 'date-time' },
} as const satisfies Readonly<Record<string, StringFormat>>;
