/** SHA-256 sums in hexadecimal. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export function sumOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

export function sumOfFile(path: string): string {
  return sumOf(readFileSync(path));
}
