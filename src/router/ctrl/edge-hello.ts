/** The answer to a controller's ServerHello: the addresses for SDKs, and whether the router accepts the data model. */
import { formatHostPort } from '#base';
import { contentType, HeaderWriter, headerId, WIRE_VERSION, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { Controller, CtrlHandlers } from './controllers.ts';

export interface AdvertisedEdge {
  /** `tls`, `wss` or `ws`. */
  readonly protocol: string;
  /** Host and port of the address that SDKs dial. */
  readonly host: string;
  readonly port: number;
  readonly bind: { readonly host: string; readonly port: number };
}

export interface EdgeHelloOptions {
  /** Called for each hello. */
  advertised(): readonly AdvertisedEdge[];
  /** Index of the router's data model; undefined if it does not use one. */
  dataModelIndex(): bigint | undefined;
  /** Called with the data of the controller's ServerHello. */
  onData(data: Readonly<Record<string, string>>, from: Controller): void;
}

export class EdgeHello {
  readonly #options: EdgeHelloOptions;

  constructor(options: EdgeHelloOptions) {
    this.#options = options;
  }

  handlers(): CtrlHandlers {
    return new Map([[contentType.serverHello, (frame, from) => this.#onServerHello(frame, from)]]);
  }

  #onServerHello(frame: Frame, from: Controller): void {
    this.#options.onData(ctrlMessages.serverHello.decode(frame.body).data, from);
    const edges = this.#options.advertised();
    const index = this.#options.dataModelIndex();
    const headers = new HeaderWriter().bool(headerId.edgeCtrl.routerDataModel, index !== undefined);
    if (index !== undefined) headers.u64(headerId.edgeCtrl.routerDataModelIndex, index);
    const hello = ctrlMessages.clientHello.frame(
      {
        version: WIRE_VERSION,
        // OpenZiti sends the host of the last listener, which older controllers read.
        hostname: edges.at(-1)?.host ?? '',
        protocols: edges.map(({ protocol }) => protocol),
        protocolPorts: edges.map(({ port }) => String(port)),
        listeners: edges.map(listenerOf),
      },
      headers,
    );
    from.channel.reply(frame, hello);
  }
}

function listenerOf({ protocol, host, port, bind }: AdvertisedEdge) {
  const bound = formatHostPort(bind.host, bind.port);
  return {
    address: { value: `${protocol}:${bound}`, protocol, hostname: bind.host, port: bind.port },
    advertise: { value: formatHostPort(host, port), protocol, hostname: host, port },
  };
}
