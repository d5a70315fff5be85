/**
 * The hello of a router to a controller and its response: their headers beyond those of the channel. Routers of
 * 1.x and 2.x use different numbers for the same facts; we write both and read either.
 */
import { EMPTY_BYTES } from '#base';
import type { Frame } from './frame-codec.ts';
import { HeaderWriter, type FrameHeaders } from './frame-headers.ts';
import { headerId } from './header-table.ts';
import { encodeCapabilities, hasCapability } from './header-values.ts';
import { helloMessages, RouterCapability, type Listener } from './ctrl-messages.ts';
import { ownRelease, parseVersionHeader } from './hello-codec.ts';

export const CtrlRouterCapability = {
  multiChannel: 1,
  connectV2: 2,
  serviceSubscriptions: 4,
  postureChecks: 5,
  bindSuccess: 6,
  routerDataModel: 62,
} as const;

export const ControllerCapability = {
  createTerminatorV2: 1,
  singleRouterLinkSource: 2,
  createCircuitV2: 3,
  routerDataModel: 4,
  groupedCtrlChannel: 5,
  supportsJwtLegacySessions: 6,
} as const;

export interface RouterHello {
  /** Version part of header 4. */
  readonly version: string;
  /** Our own release, '' if the router does not state it; undefined if the router is not ours. */
  readonly release: string | undefined;
  /** Link listeners that the router advertises. */
  readonly listeners: readonly Listener[];
  readonly capabilities: Uint8Array;
  readonly isGrouped: boolean;
}

const { channel, ctrlHello, ctrlHelloResult } = headerId;

/** A link listener that a router advertises. */
export interface AdvertisedListener {
  readonly address: string;
  readonly protocol: string;
  readonly groups: readonly string[];
  /** The interface that owns its bind address; '' for all. */
  readonly localBinding?: string;
}

/** An address at which controllers may dial the router. */
export interface AdvertisedCtrlListener {
  readonly address: string;
  readonly groups: readonly string[];
}

export interface RouterHelloExtras {
  readonly ctrlListeners?: readonly AdvertisedCtrlListener[];
  /** Use only numbers of 2.x: on a grouped channel, header 10 is the group's secret. */
  readonly isGrouped?: boolean;
}

/** Headers of a router's hello that controllers of 1.x and 2.x both understand. */
export function encodeRouterHello(
  versionText: string,
  listeners: readonly AdvertisedListener[],
  { ctrlListeners = [], isGrouped = false }: RouterHelloExtras = {},
): FrameHeaders {
  const headers = new HeaderWriter().text(channel.helloVersion, versionText);
  if (listeners.length > 0) {
    const encoded = helloMessages.listeners.encode({
      listeners: listeners.map((listener) => ({ ...listener, groups: [...listener.groups] })),
    });
    headers.bytes(ctrlHello.listeners, encoded);
    if (!isGrouped) headers.bytes(ctrlHello.legacyListeners, encoded);
  }
  if (ctrlListeners.length > 0) {
    const encoded = helloMessages.ctrlListeners.encode({
      listeners: ctrlListeners.map(({ address, groups }) => ({ address, groups: [...groups] })),
    });
    headers.bytes(ctrlHello.ctrlListeners, encoded);
  }
  if (!isGrouped) {
    const metadata = { capabilities: [RouterCapability.LINK_MANAGEMENT] };
    headers.bytes(ctrlHello.legacyMetadata, helloMessages.metadata.encode(metadata));
  }
  return headers
    .bytes(ctrlHello.capabilities, encodeCapabilities([CtrlRouterCapability.multiChannel]))
    .build();
}

/** Returns undefined without a version of five parts. @throws FrontdoorError `protocol` on malformed listeners. */
export function decodeRouterHello(hello: Frame): RouterHello | undefined {
  const { headers } = hello;
  const version = parseVersionHeader(headers.text(channel.helloVersion));
  if (version === undefined) return undefined;
  const capabilities = headers.bytes(ctrlHello.capabilities) ?? EMPTY_BYTES;
  const isGrouped = headers.bool(channel.isGrouped);
  const isCurrent = hasCapability(capabilities, CtrlRouterCapability.multiChannel);
  // On a grouped channel, header 10 is the group secret, whatever the mask states.
  const listeners =
    headers.bytes(ctrlHello.listeners) ??
    (isCurrent || isGrouped ? undefined : headers.bytes(ctrlHello.legacyListeners));
  return {
    version,
    release: ownRelease(headers.text(channel.helloVersion)),
    listeners: listeners === undefined ? [] : helloMessages.listeners.decode(listeners).listeners,
    capabilities,
    isGrouped,
  };
}

/** URLs of a controller's web APIs, by the API's name. */
export type ApiAddresses = Readonly<
  Record<string, readonly { readonly url: string; readonly version: string }[]>
>;

/** Headers that a controller adds to its hello result, in addition to connection id, own id and group. */
export function encodeControllerHello(
  versionText: string,
  capabilities: readonly number[],
  apiAddresses: ApiAddresses = {},
): FrameHeaders {
  const mask = encodeCapabilities(capabilities);
  const writer = new HeaderWriter()
    .text(channel.helloVersion, versionText)
    .bytes(ctrlHelloResult.capabilities, mask)
    .bytes(ctrlHelloResult.legacyCapabilities, mask);
  if (Object.keys(apiAddresses).length > 0)
    writer.text(ctrlHelloResult.apiAddresses, JSON.stringify(apiAddresses));
  return writer.build();
}

export interface ControllerHello {
  readonly version: string;
  readonly capabilities: Uint8Array;
}

/** Returns undefined without a version of five parts. */
export function decodeControllerHello(result: Frame): ControllerHello | undefined {
  const version = parseVersionHeader(result.headers.text(channel.helloVersion));
  if (version === undefined) return undefined;
  const capabilities =
    result.headers.bytes(ctrlHelloResult.capabilities) ??
    result.headers.bytes(ctrlHelloResult.legacyCapabilities) ??
    EMPTY_BYTES;
  return { version, capabilities };
}
