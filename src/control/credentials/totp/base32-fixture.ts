/** Reads the secret of a provisioning URL. */
export function bytesOfBase32(text: string): Buffer {
  const bits = [...text].map((one) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
  );
  const octets = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(octets.map((one) => Number.parseInt(one, 2)));
}
