/** The host's side of end-to-end encryption, for circuits that end at this router itself. */
import { FrontdoorError } from '#base';
import { encryptionWith, generateEncryptionKeys, type CircuitEncryption } from '#sdk';

export interface CircuitSealing {
  readonly encryption: CircuitEncryption;
  /** For the dialer. */
  readonly ownKey: Uint8Array;
}

/** Makes a key pair for the circuit. @throws FrontdoorError `dialer-without-key` if the dialer's key is malformed */
export function encryptFor(dialerKey: Uint8Array): CircuitSealing {
  const keys = generateEncryptionKeys();
  const encryption = encryptionWith('host', keys, dialerKey);
  if (encryption === undefined) throw dialerWithoutKey('a malformed key');
  return { encryption, ownKey: keys.publicKey };
}

/** `what` is what the dialer sent instead of a key. */
export function dialerWithoutKey(what: string): FrontdoorError {
  return new FrontdoorError(
    'invalid',
    'dialer-without-key',
    `the service is encrypted, and its dialer sent ${what}`,
  );
}
