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
    meaning:
      'The program of `--acme-dns-hook` failed, or the record that it created is not visible at the name servers of the zone.',
    remedy:
      'Run the program as the gateway does, with the arguments in the message, and check its output. The gateway retries automatically.',
  },
});
