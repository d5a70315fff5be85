/** `identity` and certificate requests. */
import { rootCertificates } from 'node:tls';
import { list, optional, section, text, type ConfigFields } from '../schema-field.ts';

const alternate = section(
  {
    server_cert: text({
      about: 'Certificate, leaf first.',
      kind: 'certificate',
      as: 'serverCert',
      example: 'pki/alternate.pem',
    }),
    server_key: optional(
      text({
        about: 'Its key; by default the key of the identity.',
        kind: 'key',
        as: 'serverKey',
        isSecret: true,
        example: 'pki/alternate.key',
      }),
    ),
  },
  { about: 'A certificate for further names.' },
);

const fields = {
  cert: text({
    about: 'Client certificate, leaf first; its common name is the router’s id.',
    kind: 'certificate',
    example: 'pki/router.cert.pem',
  }),
  key: text({
    about: 'Private key of the client certificate.',
    kind: 'key',
    isSecret: true,
    example: 'pki/router.key.pem',
  }),
};
const serverCert = text({
  about: 'Certificate of the listeners; by default the client certificate.',
  kind: 'certificate',
  as: 'serverCert',
  example: 'pki/router.server.pem',
});
const serverKey = optional(
  text({
    about: 'Its key, if it differs.',
    kind: 'key',
    as: 'serverKey',
    isSecret: true,
    example: 'pki/router.server.key.pem',
    isCommented: true,
  }),
);
const authorities = text({
  about: 'Authorities that peers’ certificates must chain to.',
  kind: 'certificate',
  example: 'pki/ca.pem',
});
const alternates = optional(
  list(alternate, {
    about: 'Further server certificates, selected by the name that a client requests.',
    as: 'alternates',
    isCommented: true,
  }),
);

const identityFields = {
  ...fields,
  server_cert: optional(serverCert),
  server_key: serverKey,
  ca: optional(authorities),
  alt_server_certs: alternates,
};

export const identitySection = section(identityFields, {
  about: 'Certificates and keys: paths, file: forms or PEM.',
  decode: identityOf,
});

/** The identity of a web server. All keys except `server_key` and `alt_server_certs` are required. */
export const webIdentitySection = section(
  {
    ...fields,
    server_cert: serverCert,
    server_key: serverKey,
    ca: authorities,
    alt_server_certs: alternates,
  },
  {
    about: 'Certificates of this server; by default the router’s.',
    decode: identityOf,
    isCommented: true,
  },
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

const subjectField = (about: string, example: string) => optional(text({ about, kind: 'any-text', example }));

const csrFields = {
  country: subjectField('Subject: country.', 'DE'),
  province: subjectField('Subject: state or province.', 'Berlin'),
  locality: subjectField('Subject: city.', 'Berlin'),
  organization: subjectField('Subject: organization.', 'Example'),
  organizationalUnit: subjectField('Subject: unit of the organization.', 'Routers'),
  sans: optional(
    section(
      {
        dns: names('DNS names.', 'text', 'router.example'),
        ip: names('IP addresses.', 'ip', '127.0.0.1'),
        uri: names('URIs.', 'uri', 'spiffe://example/router'),
        email: names('E-mail addresses.', 'text', 'ops@router.example'),
      },
      { about: 'Names in the certificates; at least one is required for being dialed.', isAnyCase: true },
    ),
  ),
};

function names(about: string, kind: 'text' | 'ip' | 'uri', example: string) {
  return optional(list(text({ about: 'A name.', kind }), { about, example: [example] }));
}

/** Keys are case-insensitive. */
export function csrSection(about: string, isCommented: boolean) {
  return optional(
    section(csrFields, { about, decode: csrOf, isEmptyAllowed: true, isCommented, isAnyCase: true }),
  );
}

/** `hosts`: the DNS names and addresses at which peers dial this router. */
function csrOf({ sans, ...subject }: ConfigFields<typeof csrFields>) {
  return {
    subject: givenOnly(subject),
    hosts: [...(sans?.dns ?? []), ...(sans?.ip ?? [])],
    uris: sans?.uri ?? [],
    emails: sans?.email ?? [],
  };
}

function givenOnly<T extends object>(all: T): { readonly [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never;
}
