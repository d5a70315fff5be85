/** Peer data of a terminator (host public key and the like) as a column: a JSON map of u32 key to base64. */
import { jsonReader, Part } from '#base/shapes';

const readTexts = jsonReader(Part.mapOf(Part.text()));

export function encodePeerData(peerData: ReadonlyMap<number, Uint8Array>): string {
  const texts = [...peerData].map(([key, value]) => [String(key), Buffer.from(value).toString('base64')]);
  return JSON.stringify(Object.fromEntries(texts));
}

export function decodePeerData(column: string): ReadonlyMap<number, Uint8Array> {
  const texts = Object.entries(readTexts(column));
  return new Map(texts.map(([key, value]) => [Number(key), new Uint8Array(Buffer.from(value, 'base64'))]));
}
