/** Errors of the control plane, by the code that its parts use. The APIs have words of their own for what callers get. */
import { errorsSince } from '#base';
import { LOGIN_TYPES_TEXT } from '#domain/provider-types';

export const CONTROL_ERRORS = errorsSince('0.1.0', {
  'api-tls-missing': {
    kind: 'invalid',
    meaning: 'The Management API would be served to other machines without TLS.',
    remedy: 'Give --api-cert and --api-key, or --own-api-cert.',
  },
  'backup-file': {
    kind: 'invalid',
    meaning: 'There is no backup at the path.',
    remedy: 'Check the path.',
  },
  'backup-schema': {
    kind: 'invalid',
    meaning: 'The backup has the schema of a newer version, or a different schema than the database.',
    remedy: 'Restore it into a new database with the version that took it or a newer one.',
  },
  'backup-tables': {
    kind: 'invalid',
    meaning: 'The backup does not have the tables of its schema.',
    remedy: 'Restore it with the version that took it, then start the newer version.',
  },
  'body-not-whole': {
    kind: 'conflict',
    meaning: 'The body of the recorded request was not kept completely, so the request cannot be replayed.',
    remedy: 'Specify a body to send instead.',
  },
  'clock-wrong': {
    kind: 'invalid',
    meaning: 'At the first start of an installation, the clock of the machine is wrong.',
    remedy: 'Set the clock, then start again.',
  },
  'commit-unknown': {
    kind: 'unavailable',
    meaning: 'The connection to the database was lost before it confirmed a change.',
    remedy: 'Read the current state, then repeat the change if it is missing.',
  },
  conflict: {
    kind: 'conflict',
    meaning: 'The change conflicts with the current state.',
    remedy: 'The message names the conflicting object.',
  },
  'console-build': {
    kind: 'invalid',
    meaning: 'The browser program of the console cannot be built from its sources.',
    remedy: 'Correct the file and line that the message names.',
  },
  'database-damaged': {
    kind: 'invalid',
    meaning: 'The file of the embedded database is damaged or truncated, or belongs to another program.',
    remedy: 'Move the file to another place, and restore the database from a backup.',
  },
  'database-encoding': {
    kind: 'invalid',
    meaning: 'The database is not encoded in UTF-8.',
    remedy: 'Recreate the database with "createdb --encoding UTF8".',
  },
  'database-foreign': {
    kind: 'invalid',
    meaning: 'The database has tables of another program.',
    remedy:
      'Create an empty database with "createdb --encoding UTF8", and specify it with --database or --database-file.',
  },
  'database-login': {
    kind: 'invalid',
    meaning: 'The database refuses the login.',
    remedy: 'Correct user and password in the database URL.',
  },
  'database-missing': {
    kind: 'invalid',
    meaning: 'There is no such database.',
    remedy: 'Create it with "createdb".',
  },
  'database-not-empty': {
    kind: 'conflict',
    meaning: 'The backup cannot be restored, because the database is not empty.',
    remedy: 'Restore it into an empty database.',
  },
  'database-read-only': {
    kind: 'invalid',
    meaning: 'The database is read-only.',
    remedy: 'Specify the primary server, not a standby.',
  },
  'database-rights': {
    kind: 'invalid',
    meaning: 'The user is not allowed to create tables in the database.',
    remedy: 'Make that user the owner of the database.',
  },
  'database-unreachable': {
    kind: 'unavailable',
    meaning: 'The database cannot be reached.',
    remedy:
      'The message has the cause. Check that PostgreSQL is running and accepts connections from this machine.',
  },
  'database-url': {
    kind: 'invalid',
    meaning: 'The database URL cannot be used.',
    remedy: 'Correct the part that the message names.',
  },
  'database-unreadable': {
    kind: 'unavailable',
    meaning: 'The embedded database cannot be read, for example because a control plane runs on it.',
    remedy: 'Give access to the Management API of that control plane, or stop it.',
  },
  'database-version': {
    kind: 'invalid',
    meaning: 'The PostgreSQL server is too old.',
    remedy: 'Use the version that the message names, or a newer one.',
  },
  'foreign-key-violation': {
    kind: 'conflict',
    meaning: 'An object that the change refers to was deleted at the same time.',
    remedy: 'Read the current state, then try again.',
  },
  'idempotency-key-reused': {
    kind: 'conflict',
    meaning: 'The Idempotency-Key belongs to another request.',
    remedy: 'Use a different key for each request.',
  },
  'reservation-used': {
    kind: 'conflict',
    meaning: 'An auth provider was created with this reservation already.',
    remedy: 'Reserve another ID, or change the auth provider that exists.',
  },
  'password-contended': {
    kind: 'unavailable',
    meaning: 'Other passwords of the same email address were set at the same time.',
    remedy: 'Set the password again.',
  },
  'peers-cut-off': {
    kind: 'conflict',
    meaning:
      'The next step of the authority rotation would cut off identities that do not have a certificate or root of the new authority yet.',
    remedy:
      'Wait until they have contacted a control plane ("frontdoor pki show" lists them), or use --force and enroll them again.',
  },
  'policy-shared': {
    kind: 'conflict',
    meaning: 'The share uses a shared policy, and has no rules of its own that could be changed.',
    remedy:
      'Change the shared policy, or set policyId of the share to null first: it then keeps the rules as its own.',
  },
  'policy-admits-nobody': {
    kind: 'conflict',
    meaning:
      'A policy would have rules about people (email addresses, claims) on a share without an auth provider that identifies people, so nobody would have access.',
    remedy: `Give the share an auth provider of type ${LOGIN_TYPES_TEXT} first, or remove these rules from its policy.`,
  },
  'in-use': {
    kind: 'conflict',
    meaning: 'The object is used by another object and cannot be deleted.',
    remedy: 'Remove the uses that the message names first.',
  },
  'foreign-origin': {
    kind: 'forbidden',
    meaning: 'The console received a request that was not sent by one of its pages.',
    remedy: 'Open the console in a browser. Programs use the Management API.',
  },
  'insufficient-scope': {
    kind: 'forbidden',
    meaning: 'The credential lacks a scope that the operation needs.',
    remedy: 'Use a credential with the scope that the message names.',
  },
  'log-in-too-old': {
    kind: 'forbidden',
    meaning: 'The operation requires a sign-in within the last 15 minutes.',
    remedy: 'Sign in again, then repeat the operation.',
  },
  'issuer-keys': {
    kind: 'unavailable',
    meaning: 'The keys of a trusted issuer cannot be fetched.',
    remedy: 'Check that the control plane can reach the address, and that --allow-egress allows it.',
  },
  'issuer-metadata': {
    kind: 'unavailable',
    meaning: 'The metadata of an OIDC issuer cannot be fetched.',
    remedy: 'Check that the control plane can reach the address, and that --allow-egress allows it.',
  },
  'key-file': {
    kind: 'invalid',
    meaning: 'The file secrets.key is missing, cannot be used, or belongs to another database.',
    remedy: 'Restore the key file that belongs to the database or backup.',
  },
  'key-file-read-only': {
    kind: 'conflict',
    meaning:
      'The file secrets.key cannot be replaced by the control plane, because it is mounted, such as a Secret of Kubernetes.',
    remedy:
      'Add the new key to the Secret, restart the control planes, and repeat the call: see "In Kubernetes" in docs/guide/keys.md.',
  },
  'mail-not-configured': {
    kind: 'conflict',
    meaning: 'Notifications cannot be sent by email, because the installation has no mail server.',
    remedy: 'The operator configures one with --smtp-host and --smtp-from. Use a webhook until then.',
  },
  'malformed-authorization': {
    kind: 'invalid',
    meaning: 'The Authorization header is malformed.',
    remedy: 'Send "Bearer ACCESS_TOKEN", or "Basic" with account ID and token.',
  },
  'method-not-allowed': {
    kind: 'wrongMethod',
    meaning: 'The path does not support the method.',
    remedy: 'Use one of the methods that the message names.',
  },
  'migration-backup': {
    kind: 'unavailable',
    meaning: 'The database was not upgraded, because it could not be backed up first.',
    remedy:
      'Free disk space in the directory that the message names, specify another directory with --migration-backup-dir, or create a backup yourself and start with --migration-backups 0.',
  },
  'migration-failed': {
    kind: 'internal',
    meaning: 'The database could not be upgraded to the schema of this version.',
    remedy: 'The log has the cause. The database is unchanged; a copy is next to it.',
  },
  'model-not-loaded': {
    kind: 'internal',
    meaning: 'The control plane could not load the objects in its database.',
    remedy: 'Please report it with the log.',
  },
  'no-database': {
    kind: 'invalid',
    meaning: 'There is no database in the data directory.',
    remedy:
      'Specify the data directory, or the database with --database or --database-file. Restore a lost database from a backup.',
  },
  'no-frontend': {
    kind: 'conflict',
    meaning: 'There is no default frontend for a public share.',
    remedy: 'Specify a frontend for the share.',
  },
  'no-gateway': {
    kind: 'unavailable',
    meaning: 'No gateway is connected to this control plane.',
    remedy: 'Start a gateway, or send the request to the control plane that it is connected to.',
  },
  'no-signing-key': {
    kind: 'unavailable',
    meaning: 'There is currently no key to sign tokens.',
    remedy: 'Create a signing key, or wait until the new one is active.',
  },
  'not-found': {
    kind: ['notFound', 'forbidden'],
    meaning: 'The object of the request does not exist, or the caller has no access to it.',
    remedy: 'Check the ID and the credential.',
  },
  'precondition-failed': {
    kind: 'preconditionFailed',
    meaning: 'The object has changed since it was read.',
    remedy: 'Read it again and repeat the change with the new ETag.',
  },
  'public-api-url': {
    kind: 'invalid',
    meaning: 'The value of --public-api-url is not a valid address.',
    remedy: 'Use an address such as https://api.example.com.',
  },
  'rate-limited': {
    kind: 'limited',
    meaning: 'The caller or its address sent too many requests.',
    remedy: 'Wait for the number of seconds in Retry-After.',
  },
  'router-away': {
    kind: 'conflict',
    meaning: 'The router is not connected to this control plane.',
    remedy: 'Start the router, or send the request to the control plane that it is connected to.',
  },
  'schema-differs': {
    kind: 'internal',
    meaning:
      'The database lacks a table or a column. A development version from before the first release made it, or it was changed by hand.',
    remedy: 'Name an empty database or another data directory, or restore a backup.',
  },
  'schema-newer': {
    kind: 'invalid',
    meaning: 'The database has the schema of a newer version.',
    remedy: 'Start the newer version, or return to the copy that the message names, by its commands.',
  },
  'schema-unreleased': {
    kind: 'invalid',
    meaning: 'The database or backup was made by a development version, from before the first release.',
    remedy: 'Name an empty database or another data directory, and set the installation up again.',
  },
  'server-certificate-contended': {
    kind: 'unavailable',
    meaning:
      'Other control planes on the same database kept replacing the certificate of the edge API during the start.',
    remedy: 'Start the control plane again.',
  },
  'service-gone': {
    kind: 'conflict',
    meaning: 'The service was deleted at the same time.',
    remedy: 'Create the service again.',
  },
  'store-contended': {
    kind: 'unavailable',
    meaning: 'Too many concurrent changes to the same rows.',
    remedy: 'Try again.',
  },
  'store-damaged': {
    kind: 'unavailable',
    meaning: 'The database is damaged.',
    remedy: 'Stop the control plane, and restore the database from a backup.',
  },
  'store-failed': {
    kind: 'internal',
    meaning: 'A statement of the database failed.',
    remedy: 'The log has the cause. Please report it.',
  },
  'store-unavailable': {
    kind: 'unavailable',
    meaning: 'The database is currently unavailable.',
    remedy: 'The message has the reason. Check the log of the database.',
  },
  'terminator-of-edge-service': {
    kind: 'conflict',
    meaning: 'The terminator belongs to a service of the edge management API.',
    remedy: 'Change it there, with `ziti edge update terminator`, or delete it.',
  },
  'terminator-of-share': {
    kind: 'conflict',
    meaning: 'The terminator belongs to a share, whose agent creates and removes it.',
    remedy: 'Change the share instead.',
  },
  'terminator-removed': {
    kind: 'conflict',
    meaning: 'The terminator was removed while it was being created.',
    remedy: 'No action is required: the program that hosts the service creates it again.',
  },
  'terminator-taken': {
    kind: 'conflict',
    meaning: 'The ID of the terminator is in use.',
    remedy: 'No action is required: the program that hosts the service uses another ID.',
  },
  'too-many-terminators': {
    kind: 'conflict',
    meaning: 'The service has reached its limit of terminators.',
    remedy: 'Delete terminators that are not used.',
  },
  'trusted-issuers': {
    kind: 'invalid',
    meaning: 'The file specified with --trusted-issuers cannot be used.',
    remedy: 'Correct the lines that the message names.',
  },
  unauthorized: {
    kind: 'unauthenticated',
    meaning: 'The credential is missing, expired or invalid.',
    remedy: 'Get a new token, or check the ID and secret.',
  },
  'unique-violation': {
    kind: 'conflict',
    meaning: 'Another change used the same name at the same time.',
    remedy: 'Read the current state, then try again.',
  },
  'unknown-key': {
    kind: 'unauthenticated',
    meaning: 'The token was signed with an unknown key.',
    remedy: 'Get a new token.',
  },
  'unseal-failed': {
    kind: 'internal',
    meaning: 'A stored secret cannot be decrypted.',
    remedy: 'Restore the secrets.key file that belongs to the database.',
  },
  'unsupported-media-type': {
    kind: 'unsupportedType',
    meaning: 'The body has a content type that the operation does not accept.',
    remedy: 'Send the content type that the message names.',
  },
});
