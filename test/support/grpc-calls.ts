/**
 * A service of gRPC and its client, by grpc-js, whose messages are bytes as they are: unary calls and streams each way, errors with
 * details, and calls that wait.
 */
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ChannelOptions,
  type MethodDefinition,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { within } from './deadline.ts';

export { Metadata, status };

const pass = (bytes: Buffer): Buffer => bytes;

function method(
  name: string,
  requestStream: boolean,
  responseStream: boolean,
): MethodDefinition<Buffer, Buffer> {
  const codec = {
    requestSerialize: pass,
    requestDeserialize: pass,
    responseSerialize: pass,
    responseDeserialize: pass,
  };
  return { path: `/frontdoor.Calls/${name}`, requestStream, responseStream, ...codec };
}

export const CALLS = {
  unary: method('Unary', false, false),
  download: method('Download', false, true),
  upload: method('Upload', true, false),
  chat: method('Chat', true, true),
  fail: method('Fail', false, false),
  wait: method('Wait', false, false),
};
/** By default grpc-js limits messages to 4 MiB. */
const UNLIMITED: ChannelOptions = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
};

export interface CallService {
  readonly port: number;
  /** Resolves when the service sees that the next call of `wait` was cancelled. */
  nextCancelled(): Promise<void>;
  stop(): void;
}

type Unary = ServerUnaryCall<Buffer, Buffer>;
type Answer = sendUnaryData<Buffer>;

export async function startCalls(): Promise<CallService> {
  const server = new Server(UNLIMITED);
  let onCancelled = (): void => {};
  server.addService(CALLS, {
    unary(call: Unary, answer: Answer) {
      const trailers = new Metadata();
      trailers.set('x-seen', call.metadata.get('x-sent').join());
      // A name that gateways drop elsewhere.
      trailers.set('x-api-version', '2');
      trailers.set('x-bytes-bin', Buffer.from([0, 255]));
      const initial = new Metadata();
      initial.set('x-begun', 'yes');
      call.sendMetadata(initial);
      answer(null, call.request, trailers);
    },
    download(call: ServerWritableStream<Buffer, Buffer>) {
      const count = Number(call.request.toString());
      for (let at = 0; at < count; at += 1) call.write(Buffer.from(`message ${at}`));
      call.end();
    },
    upload(call: ServerReadableStream<Buffer, Buffer>, answer: Answer) {
      let bytes = 0;
      call.on('data', (message: Buffer) => (bytes += message.length));
      call.on('end', () => answer(null, Buffer.from(String(bytes))));
    },
    chat(call: ServerDuplexStream<Buffer, Buffer>) {
      call.on('data', (message: Buffer) => call.write(Buffer.concat([Buffer.from('echo '), message])));
      call.on('end', () => call.end());
    },
    fail(_call: Unary, answer: Answer) {
      const metadata = new Metadata();
      metadata.set('grpc-status-details-bin', Buffer.from('details'));
      answer({ code: status.FAILED_PRECONDITION, details: 'nicht möglich', metadata });
    },
    wait(call: Unary) {
      call.on('cancelled', () => onCancelled());
    },
  });
  const bound = Promise.withResolvers<number>();
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
    error === null ? bound.resolve(port) : bound.reject(error),
  );
  return {
    port: await within('a port of the service', bound.promise),
    nextCancelled: () => within('a cancelled call', new Promise((resolve) => (onCancelled = resolve))),
    stop: () => server.forceShutdown(),
  };
}

export interface UnaryAnswer {
  readonly message: Buffer | undefined;
  readonly error: ServiceError | null;
  readonly trailers: Metadata | undefined;
}

/** A client of the share with this host. `ca`: PEM for TLS; without it the client speaks without TLS. */
export class CallClient {
  readonly client: Client;

  constructor(port: number, host: string, ca?: string) {
    const secure = ca === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca));
    this.client = new Client(`127.0.0.1:${port}`, secure, {
      ...UNLIMITED,
      'grpc.default_authority': host,
      'grpc.ssl_target_name_override': host,
      'grpc.enable_http_proxy': 0,
    });
  }

  unary(
    { path }: MethodDefinition<Buffer, Buffer>,
    message: Buffer,
    { headers = {}, deadlineMs }: { headers?: Record<string, string>; deadlineMs?: number } = {},
  ): Promise<UnaryAnswer> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
    return within(
      path,
      new Promise((resolve) => {
        let trailers: Metadata | undefined;
        const call = this.client.makeUnaryRequest(
          path,
          pass,
          pass,
          message,
          metadata,
          options,
          (error, answer) =>
            setImmediate(() => resolve({ message: answer, error, trailers: error?.metadata ?? trailers })),
        );
        call.on('status', (ended) => (trailers = ended.metadata));
      }),
    );
  }

  close(): void {
    this.client.close();
  }
}
