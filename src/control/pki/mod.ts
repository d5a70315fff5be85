/** The certificate authorities of the installation, and the certificates that they issue. */
export { readIfThere } from './authority-store.ts';
export {
  FOREIGN_LIFETIME_DAYS,
  openPki,
  OWN_LIFETIME_DAYS,
  type IssuedCertificate,
  type LeafProof,
  type Pki,
  type ProvenLeaf,
} from './pki.ts';
export { BACKDATE_MS, type ServerCredentials } from './server-leaf.ts';
export {
  commonNameOf,
  isForClients,
  isIssuedBy,
  keyValidAt,
  readCertificate,
  thirdPartyLeaf,
} from './third-party-certificate.ts';
