/** Errors of the control plane, by the code that its parts use. The APIs have words of their own for what callers get. */
import { errorsSince } from '#base';

export const CONTROL_ERRORS = errorsSince('0.1.0', {
  'api-tls-missing': {
    kind: 'invalid',
    meaning: 'The Management API would be served without TLS beyond this machine.',
    remedy: 'Give --api-cert and --api-key.',
  },
  'authority-differs': {
    kind: 'invalid',
    meaning: 'The key file belongs to a different authority than the one in the database.',
    remedy: 'Move the key file away, or name the database that it belongs to.',
  },
  'authority-files': {
    kind: 'invalid',
    meaning: 'The private key of the authority does not match its certificate.',
    remedy: 'Restore the two files that belong together.',
  },
  'backup-file': {
    kind: 'invalid',
    meaning: 'There is no backup at the path.',
    remedy: 'Compare the path.',
  },
  'backup-schema': {
    kind: 'invalid',
    meaning: 'The backup has the schema of a newer version, or another one than the database.',
    remedy: 'Restore it into a new database with the version that took it or a newer one.',
  },
  'backup-tables': {
    kind: 'invalid',
    meaning: 'The backup does not have the tables of its schema.',
    remedy: 'Restore it with the version that took it, then start the newer version.',
  },
  'body-not-whole': {
    kind: 'conflict',
    meaning: 'The body of a recorded request was not kept whole, so it cannot be sent again.',
    remedy: 'Give a body to send in its place.',
  },
  'clock-wrong': {
    kind: 'invalid',
    meaning: 'At the first start of an installation, the clock of the machine is wrong.',
    remedy: 'Set the clock, and start again.',
  },
  'commit-unknown': {
    kind: 'unavailable',
    meaning: 'The connection to the database was lost before it confirmed a change.',
    remedy: 'Read the current state, then repeat the change if it is missing.',
  },
  conflict: {
    kind: 'conflict',
    meaning: 'The change conflicts with the current state.',
    remedy: 'Read the message, which names the conflicting object.',
  },
  'console-build': {
    kind: 'invalid',
    meaning: 'The browser program of the console cannot be built from its sources.',
    remedy: 'Correct the file and line that the message names.',
  },
  'database-damaged': {
    kind: 'invalid',
    meaning: 'The file of the embedded database is damaged or cut, or belongs to another program.',
    remedy: 'Move it away, and restore the database from a backup.',
  },
  'database-encoding': {
    kind: 'invalid',
    meaning: 'The database is not encoded in UTF-8.',
    remedy: 'Make it anew with "createdb --encoding UTF8".',
  },
  'database-foreign': {
    kind: 'invalid',
    meaning: 'The database has tables of another program.',
    remedy:
      'Make an empty database with "createdb --encoding UTF8", and name it with --database or --database-file.',
  },
  'database-login': {
    kind: 'invalid',
    meaning: 'The database refuses the login.',
    remedy: 'Correct user and password in the database URL.',
  },
  'database-missing': {
    kind: 'invalid',
    meaning: 'There is no such database.',
    remedy: 'Make it with "createdb".',
  },
  'database-not-empty': {
    kind: 'conflict',
    meaning: 'A backup should be restored into a database that is not empty.',
    remedy: 'Restore it into an empty one.',
  },
  'database-read-only': {
    kind: 'invalid',
    meaning: 'The database is read-only.',
    remedy: 'Name the primary server, not a standby.',
  },
  'database-rights': {
    kind: 'invalid',
    meaning: 'The user may not create tables in the database.',
    remedy: 'Make that user the owner of the database.',
  },
  'database-unreachable': {
    kind: 'unavailable',
    meaning: 'The database cannot be reached.',
    remedy: 'Read the cause in the message: see whether PostgreSQL runs and accepts connections from here.',
  },
  'database-url': {
    kind: 'invalid',
    meaning: 'The database URL cannot be used.',
    remedy: 'Correct the part that the message names.',
  },
  'database-version': {
    kind: 'invalid',
    meaning: 'The PostgreSQL server is too old.',
    remedy: 'Use the version that the message names, or a newer one.',
  },
  'foreign-key-violation': {
    kind: 'conflict',
    meaning: 'An object that the change refers to was deleted meanwhile.',
    remedy: 'Read the current state, then try again.',
  },
  'idempotency-key-reused': {
    kind: 'conflict',
    meaning: 'The Idempotency-Key belongs to another request.',
    remedy: 'Give each request a key of its own.',
  },
  'password-contended': {
    kind: 'unavailable',
    meaning: 'Other passwords of the same e-mail address were set at the same time.',
    remedy: 'Set the password again.',
  },
  'peers-cut-off': {
    kind: 'conflict',
    meaning:
      'The next step of the rotation of an authority would cut off identities that have no certificate or no root of the new one yet.',
    remedy:
      'Wait until they called a control plane again ("frontdoor pki show" lists them), or use --force and enroll them again.',
  },
  'policy-admits-nobody': {
    kind: 'conflict',
    meaning:
      'A policy would have rules about people (e-mail addresses, claims) at a share where no auth provider proves who a person is, so that nobody would be admitted.',
    remedy:
      'Give the share an auth provider of type OIDC, GOOGLE or GITHUB first, or remove these rules from its policy.',
  },
  'in-use': {
    kind: 'conflict',
    meaning: 'The object to delete is used by another object.',
    remedy: 'Remove the uses that the message names first.',
  },
  'foreign-origin': {
    kind: 'forbidden',
    meaning: 'The console got a request that none of its pages sent.',
    remedy: 'Open the console itself; programs use the Management API.',
  },
  'insufficient-scope': {
    kind: 'forbidden',
    meaning: 'The credential lacks a scope that the operation needs.',
    remedy: 'Use a credential with the scope that the message names.',
  },
  'log-in-too-old': {
    kind: 'forbidden',
    meaning: 'The operation needs a session whose log-in is younger than 15 minutes.',
    remedy: 'Log in again, and repeat it.',
  },
  'issuer-keys': {
    kind: 'unavailable',
    meaning: 'The keys of a trusted issuer cannot be fetched.',
    remedy: 'See whether the control plane reaches the address, and --allow-egress.',
  },
  'issuer-metadata': {
    kind: 'unavailable',
    meaning: 'The metadata of an OIDC issuer cannot be fetched.',
    remedy: 'See whether the control plane reaches the address, and --allow-egress.',
  },
  'key-file': {
    kind: 'invalid',
    meaning: 'The file secrets.key is missing, cannot be used, or belongs to another database.',
    remedy: 'Restore the key file with which the database or backup was used.',
  },
  'malformed-authorization': {
    kind: 'invalid',
    meaning: 'The Authorization header has neither of its two forms.',
    remedy: 'Send "Bearer ACCESS_TOKEN", or "Basic" with account id and token.',
  },
  'method-not-allowed': {
    kind: 'wrongMethod',
    meaning: 'The path does not support the method.',
    remedy: 'Use one of the methods that the message names.',
  },
  'migration-backup': {
    kind: 'unavailable',
    meaning: 'The database was not upgraded, because no copy of it could be made before.',
    remedy:
      'Make room in the directory that the message names, name another one with --migration-backup-dir, or make a backup yourself and start with --migration-backups 0.',
  },
  'migration-failed': {
    kind: 'internal',
    meaning: 'The database could not be brought up to the schema of this version.',
    remedy: 'Read the cause in the log. The database is as it was; a copy is beside it.',
  },
  'model-not-loaded': {
    kind: 'internal',
    meaning: 'The control plane would have started without the objects in its database.',
    remedy: 'Report it with the log.',
  },
  'no-database': {
    kind: 'invalid',
    meaning: 'There is no database in the data directory.',
    remedy:
      'Name the data directory, or the database with --database or --database-file. Restore a lost database from a backup.',
  },
  'no-frontend': {
    kind: 'conflict',
    meaning: 'There is no default frontend for a public share.',
    remedy: 'Name a frontend for the share.',
  },
  'no-gateway': {
    kind: 'unavailable',
    meaning: 'No gateway is connected to this control plane.',
    remedy: 'Start a gateway, or ask the control plane that it is connected to.',
  },
  'no-signing-key': {
    kind: 'unavailable',
    meaning: 'No key signs tokens at the moment.',
    remedy: 'Create a signing key, or wait until the new one is in use.',
  },
  'not-found': {
    kind: ['notFound', 'forbidden'],
    meaning: 'The object of the request does not exist, or the caller has no access to it.',
    remedy: 'Compare the id, and the credential.',
  },
  'precondition-failed': {
    kind: 'preconditionFailed',
    meaning: 'The object has changed since it was read.',
    remedy: 'Read it again and repeat the change with the new ETag.',
  },
  'public-api-url': {
    kind: 'invalid',
    meaning: 'The value of --public-api-url is not an address.',
    remedy: 'Give an address such as https://api.example.com.',
  },
  'rate-limited': {
    kind: 'limited',
    meaning: 'The caller or its address sent too many requests.',
    remedy: 'Wait for the seconds of Retry-After.',
  },
  'router-away': {
    kind: 'conflict',
    meaning: 'The router is not connected to this control plane.',
    remedy: 'Start the router, or ask the control plane that it is connected to.',
  },
  'schema-newer': {
    kind: 'invalid',
    meaning: 'The database has the schema of a newer version.',
    remedy: 'Start the newer version, or put back a copy from before the upgrade.',
  },
  'schema-unreleased': {
    kind: 'invalid',
    meaning: 'The database or backup was made by a development version, from before the first release.',
    remedy: 'Name an empty database or another data directory, and set the installation up again.',
  },
  'server-certificate-contended': {
    kind: 'unavailable',
    meaning:
      'Other control planes over the database replaced the certificate of the edge API again and again during the start.',
    remedy: 'Start the control plane again.',
  },
  'service-gone': {
    kind: 'conflict',
    meaning: 'The service was deleted meanwhile.',
    remedy: 'Create the service again.',
  },
  'store-contended': {
    kind: 'unavailable',
    meaning: 'Too many changes of the same rows came at one time.',
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
    remedy: 'Read the cause in the log; report it.',
  },
  'store-unavailable': {
    kind: 'unavailable',
    meaning: 'The database cannot be used at the moment.',
    remedy: 'Read the reason in the message, and see the log of the database.',
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
    remedy: 'Nothing: the program that hosts the service creates it again.',
  },
  'terminator-taken': {
    kind: 'conflict',
    meaning: 'The id of the terminator is in use.',
    remedy: 'Nothing: the program that hosts the service uses another.',
  },
  'too-many-terminators': {
    kind: 'conflict',
    meaning: 'The service has reached its limit of terminators.',
    remedy: 'Delete terminators that are not used.',
  },
  'trusted-issuers': {
    kind: 'invalid',
    meaning: 'The file given with --trusted-issuers cannot be used.',
    remedy: 'Correct the lines that the message names.',
  },
  unauthorized: {
    kind: 'unauthenticated',
    meaning: 'The credential is missing, expired or invalid.',
    remedy: 'Get a new token, or compare id and secret.',
  },
  'unique-violation': {
    kind: 'conflict',
    meaning: 'Another change took the same name meanwhile.',
    remedy: 'Read the current state, then try again.',
  },
  'unknown-key': {
    kind: 'unauthenticated',
    meaning: 'The token was signed with a key that is not known.',
    remedy: 'Get a new token.',
  },
  'unseal-failed': {
    kind: 'internal',
    meaning: 'A stored secret cannot be decrypted.',
    remedy: 'Restore the secrets.key with which the database was used.',
  },
  'unsupported-media-type': {
    kind: 'unsupportedType',
    meaning: 'The body has a content type that the operation does not accept.',
    remedy: 'Send the content type that the message names.',
  },
});
