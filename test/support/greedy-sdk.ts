/**
 * An enrolled identity that wants a part's memory: channels with frames that it never finishes, and circuits whose
 * payloads come out of order in long reads, at the router, at an agent that it dials, and at a gateway that dials it.
 */
import { silentLog } from '#base';
import { AgentApiClient, EdgeApiClient, enrollIdentity, fetchBootstrapToken } from '#sdk';
import {
  contentType,
  encodeFrame,
  HeaderWriter,
  headerId,
  makeFrame,
  replyForOf,
  asReplyTo,
  type Frame,
} from '#wire';
import { encodePayloadHead, PAYLOAD_FLAGS, PayloadFrame } from '#wire/xgress';
import { bindFrame } from './hostile-sdk.ts';
import { edgeHelloHeaders, WirePeer } from './wire-peer.ts';

const { edge } = headerId;
const FRAME_BYTES = 16 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'unfinished');
/** The data of one payload after another: the receiver has it already, and must not keep it. */
const FILLER = Buffer.alloc(15_000, 'filler');

export interface GreedyOptions {
  readonly apiUrl: string;
  readonly edgePort: number;
  /** Code of an enrollment. */
  readonly code: string;
  readonly ca?: string;
}

export class GreedySdk {
  readonly id: string;
  readonly api: EdgeApiClient;
  readonly #edgePort: number;
  readonly #credentials: { readonly cert: string; readonly key: string };
  readonly #sessionToken: string;
  readonly #peers: WirePeer[] = [];
  #nextConnId = 10;

  private constructor(
    id: string,
    api: EdgeApiClient,
    edgePort: number,
    credentials: { readonly cert: string; readonly key: string },
    sessionToken: string,
  ) {
    this.id = id;
    this.api = api;
    this.#edgePort = edgePort;
    this.#credentials = credentials;
    this.#sessionToken = sessionToken;
  }

  static async enroll({ apiUrl, edgePort, code, ca }: GreedyOptions): Promise<GreedySdk> {
    const { token: jwt } = await fetchBootstrapToken({ apiUrl, code, ca });
    const { id, identity } = await enrollIdentity({ jwt, name: 'greedy' });
    const api = new EdgeApiClient({ identity, log: silentLog });
    const { token } = await api.session();
    return new GreedySdk(id, api, edgePort, { cert: identity.certPem, key: identity.keyPem }, token);
  }

  /** A channel whose hello was answered; undefined when it was refused. */
  async openChannel(): Promise<WirePeer | undefined> {
    const peer = await WirePeer.open({
      port: this.#edgePort,
      alpn: 'ziti-edge',
      credentials: this.#credentials,
    });
    this.#peers.push(peer);
    const answer = await peer.hello(this.id, edgeHelloHeaders(this.#sessionToken));
    return answer?.headers.bool(headerId.channel.resultSuccess) === true ? peer : undefined;
  }

  /** Opens a connection that sends at most `sentBytes` of its hello, and never the last byte. */
  async openSilent(sentBytes: number): Promise<void> {
    const credentials = this.#credentials;
    const peer = await WirePeer.open({ port: this.#edgePort, alpn: 'ziti-edge', credentials });
    this.#peers.push(peer);
    const hello = encodeFrame(makeFrame(0, { headers: edgeHelloHeaders(this.#sessionToken) }));
    peer.sendBytes(hello.subarray(0, Math.min(sentBytes, hello.length - 1)));
  }

  /**
   * All but the last piece of a payload of 16 MiB, as fast as it is taken; or until the channel is closed. Routers keep a
   * payload until it is whole, and pass the bodies of Data frames on.
   */
  async sendUnfinished(peer: WirePeer): Promise<void> {
    const head = encodeFrame(makeFrame(contentType.payload, { body: PIECE }));
    new DataView(head.buffer).setUint32(16, FRAME_BYTES, true);
    await write(peer, head);
    for (let sent = PIECE.length; sent < FRAME_BYTES - PIECE.length; sent += PIECE.length) {
      if (peer.isClosed) return;
      await write(peer, PIECE);
    }
  }

  /** The id of a circuit to the service, over a channel of its own. */
  async dial(serviceId: string): Promise<{ readonly peer: WirePeer; readonly circuitId: string }> {
    const peer = await this.#channel();
    const { token } = await this.api.createSession(serviceId, 'Dial');
    const headers = new HeaderWriter().u32(edge.connId, this.#takeConnId()).bool(edge.useXgressToSdk, true);
    const answer = await peer.ask(makeFrame(contentType.connect, { headers, body: token }));
    const circuitId = answer.headers.text(edge.circuitId);
    if (answer.contentType !== contentType.stateConnected || circuitId === undefined)
      throw new Error('no circuit');
    return { peer, circuitId };
  }

  /** Hosts a public share: `circuits` gets what is dialed. */
  async host(
    name: string,
    onCircuit: (peer: WirePeer, circuitId: string) => void,
  ): Promise<{ readonly stop: () => void }> {
    const share = await new AgentApiClient(this.api.connection, silentLog).createShare({
      name,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:1',
      grants: [],
    });
    const peer = await this.#channel();
    const { token } = await this.api.createSession(share.id, 'Bind');
    peer.send(bindFrame(token));
    await peer.until('the bind', () =>
      peer.frames.some(({ contentType: type }) => type === contentType.bindSuccess),
    );
    const look = setInterval(() => {
      for (const dial of peer.frames.splice(0)) {
        if (dial.contentType !== contentType.dial || replyForOf(dial) !== undefined) continue;
        peer.send(accepted(dial));
        onCircuit(peer, dial.headers.text(edge.circuitId) ?? '');
      }
    }, 20);
    return { stop: () => clearInterval(look) };
  }

  /** So many payloads of one byte, none of them the next; each in a read of its own. */
  async sendGapped(
    circuits: readonly { readonly peer: WirePeer; readonly circuitId: string }[],
    count: number,
    flags: number,
  ): Promise<void> {
    for (const { peer, circuitId } of circuits) {
      const start = flags === 0 ? PAYLOAD_FLAGS.circuitStart : 0;
      await write(peer, payloadBytes(circuitId, 0, flags | start, Buffer.alloc(0)));
    }
    for (let index = 0; index < count; index += 1) {
      const { peer, circuitId } = circuits[index % circuits.length]!;
      if (peer.isClosed) return;
      const sequence = 2 + Math.floor(index / circuits.length);
      const known = payloadBytes(circuitId, 0, flags, FILLER);
      const waits = payloadBytes(circuitId, sequence, flags, Buffer.from('x'));
      await write(peer, Buffer.concat([known, waits]));
    }
  }

  close(): Promise<void> {
    for (const peer of this.#peers) peer.close();
    return this.api.close();
  }

  async #channel(): Promise<WirePeer> {
    const peer = await this.openChannel();
    if (peer === undefined) throw new Error('the channel was refused');
    return peer;
  }

  #takeConnId(): number {
    this.#nextConnId += 1;
    return this.#nextConnId;
  }
}

function accepted(dial: Frame): Frame {
  const connId = dial.headers.bytes(edge.routerProvidedConnId) ?? new Uint8Array(4);
  const headers = new HeaderWriter().u32(edge.connId, 1);
  return asReplyTo(dial, makeFrame(contentType.dialSuccess, { headers, body: connId }));
}

function payloadBytes(circuitId: string, sequence: number, flags: number, data: Uint8Array): Buffer {
  const payload = new PayloadFrame(circuitId, sequence, flags, data);
  return Buffer.concat([encodePayloadHead(payload, 1), data]);
}

async function write({ socket, isClosed }: WirePeer, bytes: Uint8Array): Promise<void> {
  if (isClosed || socket.destroyed || socket.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
