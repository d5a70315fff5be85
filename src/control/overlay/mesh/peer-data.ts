/** Peer data of terminators and circuits, as routers send it. */
import { peerDataOfEntries, type PeerDataEntry } from '#wire/circuits';

const MAX_PEER_DATA_BYTES = 16_384;
/** What an entry costs beside its value. */
const ENTRY_BYTES = 8;

export function isTooMuchPeerData(entries: readonly PeerDataEntry[]): boolean {
  let bytes = 0;
  for (const { value } of entries) bytes += ENTRY_BYTES + value.length;
  return bytes > MAX_PEER_DATA_BYTES;
}

/** Copies, because the values are views of the socket's read buffer. */
export function copyPeerData(entries: readonly PeerDataEntry[]): Map<number, Uint8Array> {
  return peerDataOfEntries(entries.map(({ key, value }) => ({ key, value: new Uint8Array(value) })));
}
