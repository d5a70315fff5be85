/** Settings of automatic certificates, as the command line has checked them. */
export interface AcmeSettings {
  readonly email: string;
  /** https. */
  readonly directoryUrl: string;
  /** Authorities (PEM) of the directory's own TLS, instead of the system's. */
  readonly caPem?: string | undefined;
  /** External account binding. */
  readonly binding?: { readonly kid: string; readonly hmacKey: string } | undefined;
  /** With it, zones get wildcard certificates by DNS-01; without it, single names of them get theirs by HTTP-01. */
  readonly dns?: DnsSettings | undefined;
}

export interface DnsSettings {
  readonly by: DnsProviderChoice;
  /** `address` or `address:port` of the servers that show whether a record is visible; empty: those of the zone. */
  readonly servers: readonly string[];
}

/** What changes TXT records. It holds no secret: files and variables with secrets are read when a provider is opened. */
export type DnsProviderChoice =
  | {
      /** Absolute path of the program. */
      readonly hook: string;
    }
  | {
      /** The name of a row of the DNS providers. */
      readonly provider: string;
      readonly settings: Readonly<Record<string, string>>;
    };
