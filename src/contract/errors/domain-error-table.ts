/** Errors of values that several programs read: backups, configuration files and lists of networks. */
import { errorsSince } from '#base';

export const DOMAIN_ERRORS = errorsSince('0.1.0', {
  'allow-egress': {
    kind: 'invalid',
    meaning: 'An entry of --allow-egress is not a network with ports.',
    remedy: 'Write each entry as HOST:PORT or NETWORK/BITS:PORTS, such as 10.1.0.0/16:443.',
  },
  'allow-target': {
    kind: 'invalid',
    meaning: 'An entry of --allow-target is neither a network with ports nor the path of a folder.',
    remedy:
      'Write each entry as HOST:PORT or NETWORK/BITS:PORTS, such as 127.0.0.1:8080, or an absolute path, such as /srv/www.',
  },
  'backup-damaged': {
    kind: ['invalid', 'badGateway'],
    meaning: 'The backup is truncated or modified, or the file is not a backup.',
    remedy: 'Use another copy of the backup, or take a new one with "frontdoor backup FILE".',
  },
  'config-invalid': {
    kind: 'invalid',
    meaning: 'A configuration file has problems.',
    remedy: 'Correct the lines that the message names; "frontdoor router check" tests the file of a router.',
  },
  'invalid-request': {
    kind: 'invalid',
    meaning: 'A request or a value in it does not have the expected form.',
    remedy: 'Correct the value as the message describes.',
  },
  'backup-format': {
    kind: 'invalid',
    meaning: 'The file is not a backup of Frontdoor, or has a format that this version cannot read.',
    remedy: 'Specify a different file, or restore it with the version that created it.',
  },
});
