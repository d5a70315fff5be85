/** Schemas of people, their invitations, and their sessions at the console. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { ROLES, type Role } from '#domain';
import { closed, nameText, nullable, oneOf, readOnly, timestamp, uuid } from '../schema-parts.ts';

/** RFC 5321 §4.5.3.1.3: a path has at most 256 characters, two of which are the angle brackets. */
const MAX_EMAIL_CHARS = 254;
const email = () =>
  Type.String({ maxLength: MAX_EMAIL_CHARS, pattern: '^[^\\s@]+@[^\\s@]+$', examples: ['ann@example.com'] });
const role = () => oneOf<Role>(...ROLES);
const lastUsedAt = (what: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description: what });

export const personSchema = closed({
  id: uuid(),
  name: Type.String(),
  email: nullable<string>({ type: 'string' }),
  organizationId: uuid(),
  role: Type.Optional(role()),
  createdAt: timestamp(),
  lastSeenAt: lastUsedAt('When the person last used a session, to the minute; null: never'),
  secondFactor: Type.Boolean({
    description: 'Whether the person has a second factor for sign-ins with a password',
  }),
});
export type PersonAnswer = Static<typeof personSchema>;

export const personChangeSchema = closed({
  name: Type.Optional(nameText()),
  role: Type.Optional(role()),
  id: readOnly(),
  email: readOnly(),
  organizationId: readOnly(),
  createdAt: readOnly(),
  lastSeenAt: readOnly(),
  secondFactor: readOnly(),
});

/** 30 days. */
const MAX_INVITATION_SECONDS = 2_592_000;

export const newInvitationSchema = closed({
  name: nameText(),
  email: Type.Optional(email()),
  role: role(),
  organizationId: Type.Optional(
    Type.String({ format: 'uuid', description: "The organization; the caller's own by default" }),
  ),
  lifetimeSeconds: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: MAX_INVITATION_SECONDS,
      description: 'Lifetime of the link in seconds, at most 30 days; 7 days by default',
    }),
  ),
});

const invitation = () => ({
  id: uuid(),
  name: Type.String(),
  email: nullable<string>({ type: 'string' }),
  organizationId: uuid(),
  role: role(),
  createdBy: closed({
    kind: oneOf('account', 'client', 'issuer', 'person', 'system'),
    id: Type.String(),
    name: nullable<string>({ type: 'string' }),
  }),
  createdAt: timestamp(),
  expiresAt: timestamp(),
});

export const invitationSchema = closed(invitation());
export type InvitationAnswer = Static<typeof invitationSchema>;

export const invitationWithLinkSchema = closed({
  ...invitation(),
  link: Type.String({
    description: 'The URL that the invited person opens; it works once and is shown only in this response',
    examples: ['https://frontdoor.example/console/welcome#c2VjcmV0LXRoYXQtaXMtc2hvd24tb25jZQ'],
  }),
});

export const passwordLinkSchema = closed({
  link: Type.String({
    description:
      'The URL at which the person sets a new password; it works once and is shown only in this response',
    examples: ['https://frontdoor.example/console/new-password#c2VjcmV0LXRoYXQtaXMtc2hvd24tb25jZQ'],
  }),
  expiresAt: timestamp(),
});

export const consoleSessionSchema = closed({
  id: uuid(),
  personId: nullable<string>({ type: 'string', format: 'uuid' }),
  accountId: nullable<string>({ type: 'string', format: 'uuid' }),
  name: Type.String({ description: 'The name of the person or of the API account' }),
  createdAt: timestamp(),
  lastUsedAt: timestamp(),
  expiresAt: timestamp(),
  address: Type.String({ description: 'The address of the client that signed in' }),
  browser: Type.String({ description: 'The browser, according to its User-Agent header' }),
  current: Type.Boolean({ description: 'Whether this request was made with the session' }),
});
export type ConsoleSessionAnswer = Static<typeof consoleSessionSchema>;

const MAX_ROLE_RULES = 50;
const MAX_GROUP_CHARS = 300;

const roleRules = () =>
  Type.Array(
    closed({
      group: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: MAX_GROUP_CHARS,
          description: 'A group of the person at the provider',
        }),
      ),
      email: Type.Optional(
        Type.String({
          format: 'email-pattern',
          description: 'A verified email address, or `*@` and a domain',
        }),
      ),
      role: role(),
    }),
    {
      maxItems: MAX_ROLE_RULES,
      description:
        'Roles for people who sign in for the first time; the first matching entry applies. Other people wait for an administrator, unless they are invited',
    },
  );

export const newConsoleLogInSchema = closed({
  authProviderId: uuid(),
  roles: Type.Optional(roleRules()),
  organizationId: Type.Optional(
    Type.String({ format: 'uuid', description: "The organization; the caller's own by default" }),
  ),
});

export const consoleLogInSchema = closed({
  id: uuid(),
  authProviderId: uuid(),
  name: Type.String({ description: 'The name of the auth provider' }),
  organizationId: uuid(),
  roles: roleRules(),
  callbackUrl: Type.String({
    description: 'The redirect URL to register with the identity provider',
    examples: ['https://frontdoor.example/console/callback/3f8a4c1e-7a51-4a0e-8d8e-5d2a9d3f6b10'],
  }),
  createdAt: timestamp(),
});
export type ConsoleLogInAnswer = Static<typeof consoleLogInSchema>;
