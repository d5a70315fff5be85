/** The policy of a share without one: it admits every caller that its auth providers admit. */
import { formatIsoDuration } from '#domain';
import { DEFAULT_SESSION_LIMITS } from '#domain/access';
import type { SharePolicy } from './access-schemas.ts';

export const DEFAULT_POLICY: SharePolicy = {
  emails: [],
  claims: [],
  basicAuth: [],
  clientCertificate: null,
  ipAllow: [],
  ipDeny: [],
  publicPaths: [],
  expiresAt: null,
  rateLimit: null,
  session: {
    idle: formatIsoDuration(DEFAULT_SESSION_LIMITS.idleMs),
    absolute: formatIsoDuration(DEFAULT_SESSION_LIMITS.absoluteMs),
  },
  allowedOrigins: [],
  allowPreflights: false,
  responseTimeoutSeconds: null,
  contact: null,
  cors: null,
  hsts: null,
  httpsRedirect: 'auto',
};
