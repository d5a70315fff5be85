/**
 * The TLS versions and ciphers of our listeners and channels: forward secrecy and authenticated encryption,
 * nothing older.
 */
export const TLS_MIN_VERSION = 'TLSv1.2';

/** In OpenSSL's form. */
export const TLS_CIPHERS: string = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');
