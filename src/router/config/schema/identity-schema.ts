/** `identity` and certificate requests. */
import { rootCertificates } from 'node:tls';
import { definedFields } from '#base';
import { list, section, text, type ConfigFields } from '../schema-field.ts';

const alternate = section('A certificate for further names.')({
  server_cert: text('Certificate, leaf first.', 'certificate', {
    as: 'serverCert',
    example: 'pki/alternate.pem',
  }),
  'server_key?': text('Its key; by default the key of the identity.', 'key', {
    as: 'serverKey',
    isSecret: true,
    example: 'pki/alternate.key',
  }),
});

const fields = {
  cert: text('Client certificate, leaf first; its common name is the router’s id.', 'certificate', {
    example: 'pki/router.cert.pem',
  }),
  key: text('Private key of the client certificate.', 'key', {
    isSecret: true,
    example: 'pki/router.key.pem',
  }),
};
const serverCert = text('Certificate of the listeners; by default the client certificate.', 'certificate', {
  as: 'serverCert',
  example: 'pki/router.server.pem',
});
const serverKey = text('Its key, if it differs.', 'key', {
  as: 'serverKey',
  isSecret: true,
  example: 'pki/router.server.key.pem',
  isCommented: true,
});
const authorities = text('Authorities that peers’ certificates must chain to.', 'certificate', {
  example: 'pki/ca.pem',
});
const alternates = list(
  'Further server certificates, selected by the name that a client requests.',
  alternate,
  { as: 'alternates', isCommented: true },
);

const identityFields = {
  ...fields,
  'server_cert?': serverCert,
  'server_key?': serverKey,
  'ca?': authorities,
  'alt_server_certs?': alternates,
};

export const identitySection = section('Certificates and keys: paths, file: forms or PEM.')(
  identityFields,
  identityOf,
);

/** The identity of a web server. All keys except `server_key` and `alt_server_certs` are required. */
export const webIdentitySection = section('Certificates of this server; by default the router’s.', {
  isCommented: true,
})(
  {
    ...fields,
    server_cert: serverCert,
    'server_key?': serverKey,
    ca: authorities,
    'alt_server_certs?': alternates,
  },
  identityOf,
);

/** PEM texts (`pem:…` or beginning with `-----BEGIN`) or paths; `file:` forms were converted to paths before. */
function identityOf(fields: ConfigFields<typeof identityFields>) {
  return {
    ...fields,
    // Without a server certificate, the listener uses `cert` with its key.
    serverKey: fields.serverCert === undefined ? undefined : fields.serverKey,
    ca: fields.ca ?? `pem:${rootCertificates.join('\n')}`,
  };
}

const subjectField = (about: string, example: string) => text(about, 'any-text', { example });

const csrFields = {
  'country?': subjectField('Subject: country, as a code of two letters.', 'DE'),
  'province?': subjectField('Subject: state or province.', 'Berlin'),
  'locality?': subjectField('Subject: city.', 'Berlin'),
  'organization?': subjectField('Subject: organization.', 'Example'),
  'organizationalUnit?': subjectField('Subject: unit of the organization.', 'Routers'),
  'sans?': section('Names in the certificates; at least one is required for being dialed.', {
    isAnyCase: true,
  })({
    'dns?': names('DNS names.', 'text', 'router.example'),
    'ip?': names('IP addresses.', 'ip', '127.0.0.1'),
    'uri?': names(
      'URIs, other than SPIFFE ids, which only the control plane assigns.',
      'uri',
      'https://router.example',
    ),
    'email?': names('E-mail addresses.', 'text', 'ops@router.example'),
  }),
};

function names(about: string, kind: 'text' | 'ip' | 'uri', example: string) {
  return list(about, text('A name.', kind), { example: [example] });
}

/** Keys are case-insensitive. */
export function csrSection(about: string, isCommented: boolean) {
  return section(about, { isEmptyAllowed: true, isCommented, isAnyCase: true })(csrFields, csrOf);
}

/** `hosts`: the DNS names and addresses at which peers dial this router. */
function csrOf({ sans, ...subject }: ConfigFields<typeof csrFields>) {
  return {
    subject: definedFields(subject),
    hosts: [...(sans?.dns ?? []), ...(sans?.ip ?? [])],
    uris: sans?.uri ?? [],
    emails: sans?.email ?? [],
  };
}
