/** Errors of a gateway that starts or works, beside those that visitors get: these are in `failure-table.ts`. */
import { errorsSince } from '#base';

export const GATEWAY_ERRORS = errorsSince('0.1.0', {
  'acme-account': {
    kind: 'invalid',
    meaning: 'The account key for the certificate authority cannot be used.',
    remedy:
      'Restore `acme/account.key` in the data directory of the gateway from a backup, with mode 600, or remove it: then a new account is created.',
  },
  'acme-failed': {
    kind: 'unavailable',
    meaning: 'The certificate authority issued no certificate. The message has its reason.',
    remedy:
      'Follow the remedy in the log line. The gateway retries automatically, and keeps using the previous certificate.',
  },
  'acme-options': {
    kind: 'invalid',
    meaning: 'The options for automatic certificates contradict each other, or one of them cannot be used.',
    remedy: 'Correct what the message names; docs/guide/automatic-certificates.md describes each.',
  },
  'cannot-open-log': {
    kind: 'invalid',
    meaning: 'The access log cannot be opened.',
    remedy: 'Create its directory, and give the gateway permission to write there.',
  },
  'control-timeout': {
    kind: 'timeout',
    meaning: 'The control plane did not answer the gateway in time.',
    remedy: 'Check that the control plane is running and is not overloaded.',
  },
  'dns-hook-failed': {
    kind: 'unavailable',
    meaning: 'The program of `--acme-dns-hook` failed.',
    remedy:
      'Run the program as the gateway does, with the arguments in the message, and check its output. The gateway retries automatically.',
  },
  'dns-provider-failed': {
    kind: 'unavailable',
    meaning:
      'A TXT record for a certificate could not be created or removed at the DNS provider. The message has its reason.',
    remedy:
      'Correct what the message names, and try it with "frontdoor gateway dns-check". The gateway retries automatically, and keeps using the previous certificate.',
  },
  'dns-record-not-visible': {
    kind: 'unavailable',
    meaning: 'A TXT record was created, but the name servers of the zone do not answer with it.',
    remedy:
      'Check that the record is created in the zone that the internet sees. If this machine sees other name servers than the internet, name some with --acme-dns-server.',
  },
});
