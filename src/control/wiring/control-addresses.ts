/** The addresses of a control plane. Ports that the system chooses are known once they are open. */
import { formatHostPort } from '#base';
import type { OwnAddress } from '../console/mod.ts';
import type { ControlPlaneOptions } from './control-plane-options.ts';
import { hasApiTls } from './own-api-certificate.ts';

export class ControlAddresses {
  readonly #options: ControlPlaneOptions;
  #edgeUrls: readonly string[];
  #apiUrl = '';
  #apiPort: number;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
    // Routers may connect before the edge API listens.
    this.#edgeUrls = options.edgeApiPort === 0 ? [] : this.#edgeUrlsAt(options.edgeApiPort);
    this.#apiPort = options.apiPort;
  }

  /** Hosts at which clients, agents and routers reach this control plane. */
  get hosts(): readonly string[] {
    return [this.#options.advertiseHost, ...(this.#options.moreAdvertiseHosts ?? [])];
  }

  /** `https://host:port` of the edge API, one for each host. */
  get edgeUrls(): readonly string[] {
    return this.#edgeUrls;
  }

  /** Its first address; '' while its port is not known. */
  get edgeUrl(): string {
    return this.#edgeUrls[0] ?? '';
  }

  /** Address of the Management API on this machine, with the path of {base_url}; '' while it does not listen. */
  get apiUrl(): string {
    return this.#apiUrl;
  }

  /** {base_url}. */
  get baseUrl(): string {
    return this.#options.publicApiUrl?.url ?? this.#apiUrl;
  }

  /** Where the console expects its requests. */
  get console(): OwnAddress {
    return { baseUrl: this.baseUrl, port: this.#apiPort, isTls: hasApiTls(this.#options) };
  }

  edgeApiListens(port: number): void {
    this.#edgeUrls = this.#edgeUrlsAt(port);
  }

  managementApiListens(port: number): void {
    const { apiName, listenHost, advertiseHost, publicApiUrl } = this.#options;
    this.#apiPort = port;
    const [scheme, host] = hasApiTls(this.#options)
      ? ['https', apiName ?? advertiseHost]
      : ['http', listenHost];
    this.#apiUrl = `${scheme}://${formatHostPort(host, port)}${publicApiUrl?.pathPrefix ?? ''}`;
  }

  #edgeUrlsAt(port: number): string[] {
    // An identity has the address in the form of URLs, which have no default port.
    return [...new Set(this.hosts.map((host) => new URL(`https://${formatHostPort(host, port)}`).origin))];
  }
}
