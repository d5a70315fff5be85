/** Who may reach a share: its policy, what can be asked about it, and custom frontends. */
import type { Static, TObject, TSchema } from 'typebox';
import { Type } from './schema-builder.ts';
import { closed, ids, oneOf, readOnly, text, timestamp, uuid } from './schema-parts.ts';

const longText = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description === undefined ? {} : { description }) });
const list = <T extends TSchema>(items: T, maxItems: number, description: string) =>
  Type.Array(items, { maxItems, description });
const span = (description: string) => Type.String({ format: 'span', description });

/** An object or null, said as our other nullable fields are. */
function objectOrNull<T extends TObject>(schema: T, description: string) {
  return Type.Unsafe<Static<T> | null>({ ...schema, type: ['object', 'null'], description });
}

const claimRule = closed({
  claim: longText(300, '`groups`, or the name of a claim; dots lead into objects'),
  anyOf: Type.Array(longText(300), {
    minItems: 1,
    maxItems: 100,
    description: 'The claim is, or holds, one of these',
  }),
});

const basicUser = closed({
  name: Type.String({ format: 'basic-user' }),
  password: Type.String({
    minLength: 8,
    maxLength: 1_024,
    description: 'Never shown; sending ******** back keeps the one that this name has',
  }),
});

const certificateAuthorities = () =>
  Type.Array(Type.String({ format: 'certificate-pem' }), {
    minItems: 1,
    maxItems: 20,
    description: 'Certificates of the authorities that are believed, in PEM, one each',
  });
const certificateNames = () =>
  list(
    Type.String({ format: 'certificate-name' }),
    200,
    "One of them is the leaf's common name, a DNS name or an e-mail address of it; none: any",
  );

const rateLimit = closed({
  requests: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  per: span('From PT1S to P365D'),
});

const IDLE = 'A session that is not used for so long is over; PT8H when not given';
const ABSOLUTE = 'A session of this age is over; P7D when not given';

const policyFields = () => ({
  emails: list(
    Type.String({ format: 'email-pattern' }),
    1_000,
    'Whose log-ins and tokens are let in, by verified e-mail; none: any',
  ),
  claims: list(claimRule, 50, 'All must hold for a log-in or token'),
  basicAuth: list(basicUser, 50, 'Users of HTTP Basic'),
  ipAllow: list(Type.String({ format: 'ip-network' }), 1_000, 'Where clients must be; none: anywhere'),
  ipDeny: list(Type.String({ format: 'ip-network' }), 1_000, 'Where they must not be, whatever is allowed'),
  publicPaths: list(Type.String({ format: 'path-pattern' }), 200, 'Paths that need no identity'),
  expiresAt: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'From then on nobody gets in; null: never',
  }),
  rateLimit: objectOrNull(
    rateLimit,
    'What one caller may ask: an identity where there is one, else an address; null: no limit',
  ),
  allowedOrigins: list(
    Type.String({ format: 'web-origin' }),
    50,
    'Other origins whose pages may change things in the name of a person who is logged in; none: its own pages only',
  ),
  allowPreflights: Type.Boolean({
    description:
      'Whether CORS preflights, which carry no credential, go to the service; false when not given',
  }),
  responseTimeoutSeconds: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 3_600,
    description: "Until the first byte of the service's answer; null: as the gateway is set",
  }),
  contact: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'contact',
    description: 'Shown to people who are not let in; null: nobody',
  }),
});

/** Of PUT: what is absent has its default, which lets everybody in whom the auth providers let in. */
export const sharePolicyReplacementSchema = closed({
  ...optional(policyFields()),
  clientCertificate: Type.Optional(
    objectOrNull(
      closed({ authorities: certificateAuthorities(), names: Type.Optional(certificateNames()) }),
      'The certificate that every client must show; null: none',
    ),
  ),
  session: Type.Optional(
    closed({ idle: Type.Optional(span(IDLE)), absolute: Type.Optional(span(ABSOLUTE)) }),
  ),
});
export type SharePolicyBody = Static<typeof sharePolicyReplacementSchema>;

export const sharePolicySchema = closed({
  ...policyFields(),
  clientCertificate: objectOrNull(
    closed({ authorities: certificateAuthorities(), names: certificateNames() }),
    'The certificate that every client must show; null: none',
  ),
  session: closed({ idle: span(IDLE), absolute: span(ABSOLUTE) }),
});
export type SharePolicyAnswer = Static<typeof sharePolicySchema>;

/** A request that is not sent. What is absent is as in a browser without any credential. */
export const accessQuestionSchema = closed({
  host: Type.Optional(longText(253, "One of the share's names; its first when not given")),
  method: Type.Optional(longText(32, 'GET when not given')),
  origin: Type.Optional(
    Type.String({
      format: 'web-origin',
      description: 'Whose page makes the request in a browser; its own when not given',
    }),
  ),
  preflight: Type.Optional(
    Type.Boolean({ description: 'A CORS preflight, of method OPTIONS; false when not given' }),
  ),
  path: Type.Optional(
    Type.String({
      title: 'path that begins with /',
      pattern: '^/',
      maxLength: 16_384,
      description: 'With its query; / when not given',
    }),
  ),
  address: Type.Optional(
    Type.String({
      format: 'ip-address',
      description: 'Of the client; when not given, rules on addresses are passed over',
    }),
  ),
  secure: Type.Optional(Type.Boolean({ description: 'Over TLS; true when not given' })),
  at: Type.Optional(Type.String({ format: 'date-time', description: 'When; now when not given' })),
  providerId: Type.Optional(Type.String({ format: 'uuid', description: 'Who proves the caller' })),
  email: Type.Optional(longText(320, 'Of the log-in or token')),
  emailVerified: Type.Optional(Type.Boolean({ description: 'true when not given' })),
  groups: Type.Optional(Type.Array(text(), { maxItems: 1_000 })),
  claims: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'Of the log-in or token' }),
  ),
  keyName: Type.Optional(longText(300, 'An API key by its name')),
  basicUser: Type.Optional(longText(300, 'A user of HTTP Basic')),
  certificateName: Type.Optional(
    longText(255, 'A name in a client certificate of an authority that is believed'),
  ),
});
export type AccessQuestion = Static<typeof accessQuestionSchema>;

export const accessExplanationSchema = closed({
  decision: oneOf('allow', 'login', 'unauthenticated', 'refuse', 'unavailable'),
  status: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'What the caller is answered; null: what the service answers',
  }),
  reason: Type.String({ description: 'A code, as logs and records of failures have it' }),
  steps: Type.Array(
    closed({
      rule: Type.String(),
      outcome: oneOf('passed', 'decided', 'skipped'),
      detail: Type.String(),
    }),
    { description: 'In the order in which they are asked' },
  ),
});
export type AccessExplanationAnswer = Static<typeof accessExplanationSchema>;

const customFrontendState = () =>
  Type.Unsafe<'NEW' | 'PENDING' | 'ACTIVE'>({
    type: 'string',
    enum: ['NEW', 'PENDING', 'ACTIVE'],
    description: 'NEW: no gateway has told of it; PENDING: gateways lack its certificate; ACTIVE: served',
  });

export const customFrontendSchema = closed({
  id: uuid(),
  frontdoorId: uuid(),
  hostname: Type.String(),
  frontendId: Type.String(),
  authProviderIds: Type.Array(Type.String(), {
    description: 'Guard shares here that have no auth provider of their own',
  }),
  status: customFrontendState(),
  domainName: Type.String({ description: 'What a certificate must be for: `*.hostname`' }),
  createdAt: timestamp(),
});
export type CustomFrontendAnswer = Static<typeof customFrontendSchema>;

export const newCustomFrontendSchema = closed({
  hostname: Type.String({ format: 'zone-name' }),
  frontendId: text(),
  authProviderIds: Type.Optional(ids(100, 'Guard shares here that have no auth provider of their own')),
  id: readOnly(),
  frontdoorId: readOnly(),
  status: readOnly(),
  domainName: readOnly(),
  createdAt: readOnly(),
});

export const dnsRecordListSchema = Type.Array(
  closed({
    type: oneOf('CNAME'),
    name: Type.String(),
    value: Type.String(),
    purpose: Type.String(),
  }),
);
export type DnsRecordAnswer = Static<typeof dnsRecordListSchema>[number];

function optional<T extends Readonly<Record<string, TSchema>>>(fields: T) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)])) as {
    [K in keyof T]: ReturnType<typeof Type.Optional<T[K]>>;
  };
}
