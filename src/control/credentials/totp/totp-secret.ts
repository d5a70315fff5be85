/** The secret of one-time passwords, and how an authenticator app takes it: as a URL, and as the picture of one. */
import { randomBytes } from 'node:crypto';
import encodeQR from 'qr';
import { base32 } from '../../secrets/mod.ts';
import { pngOf } from './bitmap-png.ts';

/** As RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** Authenticator apps show this name. */
const ISSUER = 'Frontdoor';
/** Bounds the name of the account that authenticator apps show, so that the URL fits into a QR code. */
const MAX_LABEL_CHARS = 64;
/** Width of the image of a short URL, as OpenZiti's; that of a longer one has at least `MIN_SCALE` pixels a module. */
const IMAGE_PIXELS = 256;
const MIN_SCALE = 4;
/** In modules, as the standard demands. */
const QUIET_ZONE = 4;

export function newTotpSecret(): Uint8Array {
  return randomBytes(SECRET_BYTES);
}

/** The address by which authenticator apps take the secret. */
export function provisioningUrlOf(secret: Uint8Array, name: string): string {
  const query = new URLSearchParams({ issuer: ISSUER, secret: base32(secret) });
  const label = Array.from(name.toWellFormed()).slice(0, MAX_LABEL_CHARS).join('');
  return `otpauth://totp/${encodeURIComponent(ISSUER)}:${encodeURIComponent(label)}?${query.toString()}`;
}

/** Returns the QR code of the URL as PNG. */
export function qrPictureOf(url: string): Uint8Array {
  const squares = encodeQR(url, 'raw', { ecc: 'medium', border: QUIET_ZONE });
  return pngOf(squares, Math.max(MIN_SCALE, Math.floor(IMAGE_PIXELS / squares.length)));
}
