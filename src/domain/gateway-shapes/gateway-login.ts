/**
 * Log-ins between gateways and the control plane, over the edge API with the gateway's certificate: the gateway
 * serves the browser; the control plane talks to the identity provider and keeps attempts and sessions. `POST
 * `POST /gateway/v1/logins/start`, `/callback`, `/redeem`, `/page`, `/gateway/v1/sessions/find`, `/end`,
 * `/gateway/v1/providers/refresh`, `/gateway/v1/usage`.
 */
import { Part, Shape, Type, type ShapeOf } from '#base/shapes';
import { callerIdentitySchema } from '../access/caller-identity.ts';

const { count, lossyField, lossyList, mapOf, nullable, oneOf, text, variants } = Part;

const MAX_PARAMETERS = 32;
const MAX_PORT = 65_535;
export const MAX_USAGE_ENTRIES = 10_000;
/** A gateway reports more of them by turns. */
export const MAX_REPORTED_DOMAINS = 500;
export const MAX_CERTIFICATE_PROBLEM = 500;
/** Time from the callback to the redemption at the share. */
export const LOGIN_CODE_TTL_MS = 30_000;
/** Time from the start to the callback. */
export const LOGIN_ATTEMPT_TTL_MS = 600_000;

const id = () => text(100, '^[0-9A-Za-z\\-]+$');
const host = () => text(253, '^[a-z0-9\\-]+(?:[.][a-z0-9\\-]+)+$');
/** 32 bytes, base64url. */
const digest = () => text(43, '^[A-Za-z0-9_\\-]{43}$');
const address = () => text(64);

const toControl = (name: string) => ({ name, format: 1, remedy: 'upgrade the control plane' });
const toGateway = (name: string) => ({ name, format: 1, remedy: 'upgrade this gateway' });

/** A browser without a session requested a share and is about to log in with this provider. */
export const loginStartShape = new Shape(
  Type.Object({
    shareId: id(),
    /** The canonical host of the request. `oauth.<zone>` of the same zone receives the callback. */
    host: host(),
    /** Port of the gateways' HTTPS, as browsers see it. */
    port: Type.Integer({ minimum: 1, maximum: MAX_PORT }),
    providerId: id(),
    /** Where to go afterwards: a path with its query. Neither `//elsewhere` nor what browsers take for it. */
    returnTo: text(8_192, '^/(?![/\\\\])[\\x21-\\x5b\\x5d-\\x7e]*$'),
    /** SHA-256 of the cookie that binds the attempt to its browser, in base64url. */
    browser: digest(),
    address: address(),
  }),
  toControl('start of a log-in'),
);
export type LoginStart = ShapeOf<typeof loginStartShape.schema>;

/** The identity provider redirected the browser to `https://oauth.<zone>/<providerId>/auth/callback`. */
export const loginCallbackShape = new Shape(
  Type.Object({
    /** `oauth.<zone>`. */
    host: host(),
    providerId: id(),
    /** Query parameters. A repeated one makes the whole callback invalid. */
    parameters: mapOf(text(8_192), { maxProperties: MAX_PARAMETERS }),
    address: address(),
  }),
  toControl('callback of a log-in'),
);
export type LoginCallback = ShapeOf<typeof loginCallbackShape.schema>;

/** The share received the one-time code from the same browser. */
export const loginRedemptionShape = new Shape(
  Type.Object({
    shareId: id(),
    host: host(),
    code: text(100),
    /** The same value as at the start. */
    browser: digest(),
  }),
  toControl('end of a log-in'),
);
export type LoginRedemption = ShapeOf<typeof loginRedemptionShape.schema>;

const reasonSchema = oneOf(
  // The provider is disabled or not one of the share's.
  'provider-not-available',
  // Its endpoints cannot be reached or answer wrongly.
  'provider-failed',
  // Attempt unknown, used, expired, or of another browser.
  'attempt-not-valid',
  // The person said no, or the provider did.
  'denied',
  // No verified e-mail, where one is needed.
  'email-not-verified',
  'too-many',
);
/** Why a log-in cannot continue. The gateway has a text for each. */
export type LoginRefusalReason = ShapeOf<typeof reasonSchema>;

/** A reason that this version does not know counts as the most general one. */
const refusedSchema = Type.Object({ reason: lossyField('reason', reasonSchema, 'provider-failed') });
export type LoginRefusal = { readonly type: 'refused' } & ShapeOf<typeof refusedSchema>;

const redirectSchema = Type.Object({ url: text() });

export const loginStartedShape = new Shape(
  variants('type', { redirect: redirectSchema, refused: refusedSchema }),
  toGateway('answer to the start of a log-in'),
);
export type LoginStarted = ShapeOf<typeof loginStartedShape.schema>;

/** `url`: to `https://<share>/.frontdoor/login?code=…`. */
export const loginReturnedShape = new Shape(
  variants('type', { redirect: redirectSchema, refused: refusedSchema }),
  toGateway('answer to the callback of a log-in'),
);
export type LoginReturned = ShapeOf<typeof loginReturnedShape.schema>;

const sessionSchema = Type.Object({
  id: text(),
  shareId: text(),
  /** In canonical form. */
  host: text(),
  providerId: text(),
  /** The provider's version when the session was made. */
  providerVersion: count(),
  identity: callerIdentitySchema,
  createdAtMs: Type.Number(),
  lastUsedAtMs: Type.Number(),
});
export type GatewaySession = ShapeOf<typeof sessionSchema>;

export const loginRedeemedShape = new Shape(
  variants('type', {
    session: Type.Object({
      /** The cookie's value: 256 random bits in base64url. */
      token: text(),
      session: sessionSchema,
      returnTo: text(),
    }),
    refused: refusedSchema,
  }),
  toGateway('answer to the end of a log-in'),
);
export type LoginRedeemed = ShapeOf<typeof loginRedeemedShape.schema>;

export const sessionQueryShape = new Shape(Type.Object({ token: text(100) }), toControl('session query'));
export type SessionQuery = ShapeOf<typeof sessionQueryShape.schema>;

export const sessionFoundShape = new Shape(
  Type.Object({
    /** Null if there is no such session, or it has ended. */
    session: nullable(sessionSchema),
  }),
  toGateway('session'),
);
export type SessionFound = ShapeOf<typeof sessionFoundShape.schema>;

export const providerQueryShape = new Shape(Type.Object({ providerId: id() }), toControl('provider query'));
export type ProviderQuery = ShapeOf<typeof providerQueryShape.schema>;

/** A share whose visitors are about to sign in. */
export const signInPageQueryShape = new Shape(
  Type.Object({ shareId: id() }),
  toControl('question for a sign-in page'),
);
export type SignInPageQuery = ShapeOf<typeof signInPageQueryShape.schema>;

/** 32 KiB in base64. */
const MAX_LOGO_CHARS = 43_692;
const MAX_TITLE_CHARS = 255;

/** What visitors see besides the providers; a title or logo that cannot be read is left out. */
export const signInPageShape = new Shape(
  Type.Object({
    title: lossyField('title', nullable(text(MAX_TITLE_CHARS)), null),
    /** A PNG image in base64. */
    logo: lossyField('logo', nullable(text(MAX_LOGO_CHARS, '^[A-Za-z0-9+/]+={0,2}$')), null),
  }),
  toGateway('sign-in page'),
);
export type SignInPageShown = ShapeOf<typeof signInPageShape.schema>;

const time = () => count();
const bounds = { maxItems: MAX_USAGE_ENTRIES };

/** The certificate of a share's domain at one gateway, and what became of the last order. */
const domainCertificateSchema = Type.Object({
  host: host(),
  shareId: id(),
  /** When the certificate ends, even in the past; null if there is none. */
  validUntilMs: nullable(time()),
  /** Why the last order failed, or there was none; null if it succeeded, and where nobody has visited the domain. */
  problem: nullable(text(MAX_CERTIFICATE_PROBLEM)),
  /** When the next order is possible; null if no time is known. */
  retryAtMs: nullable(time()),
});
export type DomainCertificate = ShapeOf<typeof domainCertificateSchema>;

/** Ports, both ends included. */
const portRangeSchema = Type.Object({
  first: Type.Integer({ minimum: 1, maximum: 65_535 }),
  last: Type.Integer({ minimum: 1, maximum: 65_535 }),
});
export type SharePortRange = ShapeOf<typeof portRangeSchema>;

/** What gateways used since they last reported. */
export const gatewayUsageShape = new Shape(
  Type.Object({
    keys: lossyList('keys', Type.Object({ providerId: id(), name: text(400), lastUsedAtMs: time() }), bounds),
    sessions: lossyList('sessions', Type.Object({ id: id(), lastUsedAtMs: time() }), bounds),
    /** Hostnames of all custom frontends for whose shares this gateway has a certificate. */
    certifiedZones: lossyList('certifiedZones', host(), bounds),
    /** Gateways of earlier versions, and those without HTTPS, report none. */
    domains: Part.withDefault(
      lossyList('domains', domainCertificateSchema, { maxItems: MAX_REPORTED_DOMAINS }),
      [],
    ),
    /** The ports that this gateway opens for shares; null, and gateways of earlier versions: none. */
    tcpPorts: Part.withDefault(nullable(portRangeSchema), null),
    udpPorts: Part.withDefault(nullable(portRangeSchema), null),
  }),
  toControl('usage report'),
);
export type GatewayUsage = ShapeOf<typeof gatewayUsageShape.schema>;
