/** Guards and headers of ngrok, which tunnels and traffic policies have alike. */
import { parseIpNetwork } from '#domain';
import type { HeaderDirection, ImportedShare } from './imported-share.ts';
import type { SourceTable } from './source-table.ts';

/** The auth provider instead of guards that cannot be carried over. */
export const NGROK_GUARD = 'ngrok-sign-in';

/** A network that cannot be carried over closes the share until the file is corrected. */
export function addNetworks(
  share: ImportedShare,
  table: SourceTable | undefined,
  key: string,
  field: 'ipAllow' | 'ipDeny',
): void {
  for (const network of table?.texts(key) ?? []) {
    if (parseIpNetwork(network) !== undefined) share.network(table!, key, field, network);
    else share.guardByHand(table!, key, NGROK_GUARD, 'a network of an IP restriction cannot be read');
  }
}

export interface HeaderPlace {
  readonly table: SourceTable;
  readonly key: string;
  readonly direction: HeaderDirection;
}

/** ngrok fills `${…}` in for each request; values of Frontdoor are fixed. */
export function addHeader(
  share: ImportedShare,
  { table, key, direction }: HeaderPlace,
  name: string,
  value: string,
): void {
  if (value.includes('${'))
    table.remark(key, `The header ${name} is left out, because values are fixed texts.`);
  else share.header(table, key, direction, { action: 'add', name, value });
}
