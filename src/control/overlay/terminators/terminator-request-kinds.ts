/**
 * There are three kinds of requests about terminators: an SDK hosts a service (`sdk`), a router hosts one as its own tunnel
 * identity (`tunnel`), or a router dials an address for a service of the fabric (`fabric`). A kind reads its messages,
 * finds out on whose behalf they are, and has its form of answers. terminator-requests.ts does the rest for all.
 */
import { textOf } from '#base';
import { contentType, makeFrame, type Frame } from '#wire';
import { EdgeErrorCode, encodeEdgeRefusal, RetryHint } from '#wire/circuits';
import { CreateTerminatorResult, ctrlMessages, type CtrlBody } from '#wire/ctrl';
import type { OverlayModel } from '../model/overlay-model.ts';
import { isHostedService, type Service } from '../model/service.ts';
import type { ServiceSessionCheck, SessionProof } from '../permits/service-session-check.ts';
import { refusalOf } from '../permits/request-refusal.ts';
import { judgeTunnel } from '../permits/tunnel-access.ts';
import type { ConnectedRouter } from '../mesh/connected-router.ts';
import { final, type TerminatorRefusal, type WantedTerminator } from './terminator-refusal.ts';

export interface RequestJudges {
  readonly model: OverlayModel;
  readonly sessions: ServiceSessionCheck;
}

/** On whose behalf a router asks. */
export interface TerminatorOwner {
  /** The hosting identity; undefined for the router itself. */
  readonly identityId: string | undefined;
  /** For the audit trail. */
  readonly share?: string | undefined;
}

/** Where the terminator belongs. */
export interface TerminatorHost extends TerminatorOwner {
  readonly serviceId: string;
  /** Whether the service belongs to the edge management API. */
  readonly isEdge: boolean;
  readonly binding: string;
}

/** Sends the only answer. `id` is that of the terminator. */
export type AnswerTerminator = (refusal: TerminatorRefusal | undefined, id: string) => void;

export interface CreationRequest {
  readonly wanted: WantedTerminator;
  readonly host: TerminatorHost | TerminatorRefusal;
  readonly answer: AnswerTerminator;
}

export interface ChangeRequest {
  readonly change: Omit<CtrlBody<'updateTerminator'>, '$typeName' | '$unknown'>;
  readonly owner: TerminatorOwner | TerminatorRefusal;
  readonly answer: AnswerTerminator;
}

export interface RemovalRequest {
  readonly ids: readonly string[];
  readonly answer: AnswerTerminator;
}

/** @throws FrontdoorError `protocol`, from each */
export interface TerminatorRequestKind {
  creation(judges: RequestJudges, router: ConnectedRouter, frame: Frame): CreationRequest;
  change(judges: RequestJudges, router: ConnectedRouter, frame: Frame): ChangeRequest;
  removal(router: ConnectedRouter, frame: Frame): RemovalRequest;
}

/** Terminators of hosts are created for their identities, never by a router alone. */
const SDK_BINDING = 'edge';
const TUNNEL_BINDING = 'tunnel';

export const SDK_REQUESTS: TerminatorRequestKind = {
  creation(judges, router, frame) {
    const request = ctrlMessages.createTerminatorV2.decode(frame.body);
    const owner = judgeSdk(judges, router, request);
    return {
      wanted: request,
      host: 'code' in owner ? owner : hostOf(owner.service, owner.identityId, SDK_BINDING),
      answer: (refusal) => {
        const body = resultOf(refusal, request.address);
        router.channel.reply(frame, ctrlMessages.createTerminatorV2Response.frame(body));
      },
    };
  },
  change(judges, router, frame) {
    const change = ctrlMessages.updateEdgeTerminator.decode(frame.body);
    const answer = edgeAnswer(router, frame, contentType.updateEdgeTerminatorResponse);
    return { change, owner: judgeSdk(judges, router, change), answer };
  },
  removal(router, frame) {
    const { terminatorId } = ctrlMessages.removeEdgeTerminator.decode(frame.body);
    return {
      ids: [terminatorId],
      answer: edgeAnswer(router, frame, contentType.removeEdgeTerminatorResponse),
    };
  },
};

export const TUNNEL_REQUESTS: TerminatorRequestKind = {
  creation({ model }, router, frame) {
    const request = ctrlMessages.createTunnelTerminatorV2.decode(frame.body);
    const { address, startTime, serviceId } = request;
    const verdict = judgeTunnel(model, router.id, model.edge.service(serviceId), 'Bind');
    const { service } = verdict;
    return {
      wanted: request,
      host: verdict.isAllowed
        ? hostOf(verdict.service, router.id, TUNNEL_BINDING)
        : refusalOf({ ...verdict, identityId: router.id, service }),
      answer: (refusal) => {
        const body = { ...resultOf(refusal, address), startTime };
        router.channel.reply(frame, ctrlMessages.createTunnelTerminatorV2Response.frame(body));
      },
    };
  },
  change(_judges, router, frame) {
    const answer = edgeAnswer(router, frame, contentType.updateTunnelTerminatorResponse);
    const change = ctrlMessages.updateTunnelTerminator.decode(frame.body);
    return { change, owner: { identityId: router.id }, answer };
  },
  /** The body is the id. */
  removal(router, frame) {
    return {
      ids: [textOf(frame.body)],
      answer: edgeAnswer(router, frame, contentType.removeTunnelTerminatorResponse),
    };
  },
};

export const FABRIC_REQUESTS: TerminatorRequestKind = {
  creation({ model }, router, frame) {
    const request = ctrlMessages.createTerminator.decode(frame.body);
    const answer = resultAnswer(router, frame);
    return { wanted: request, host: judgeFabric(model, request), answer };
  },
  change(_judges, router, frame) {
    const change = ctrlMessages.updateTerminator.decode(frame.body);
    return { change, owner: { identityId: undefined }, answer: resultAnswer(router, frame, '') };
  },
  removal(router, frame) {
    const { terminatorId } = ctrlMessages.removeTerminator.decode(frame.body);
    return { ids: [terminatorId], answer: resultAnswer(router, frame, '') };
  },
};

/** Removes terminators of all kinds. */
export function removalOfSeveral(router: ConnectedRouter, frame: Frame): RemovalRequest {
  const { terminatorIds } = ctrlMessages.removeTerminators.decode(frame.body);
  return { ids: terminatorIds, answer: resultAnswer(router, frame, '') };
}

/** The session of a host must permit it to bind the service through this router. */
export function judgeSdk(
  { sessions }: RequestJudges,
  router: ConnectedRouter,
  proof: SessionProof,
): (TerminatorOwner & { readonly service: Service }) | TerminatorRefusal {
  const verdict = sessions.judge(proof, 'Bind', router.id);
  if (!verdict.isAllowed) return refusalOf(verdict);
  const { service, session } = verdict;
  return { identityId: session.identityId, share: service.name, service };
}

function judgeFabric(
  model: OverlayModel,
  { serviceId, binding }: CtrlBody<'createTerminator'>,
): TerminatorHost | TerminatorRefusal {
  const { invalidService, invalidTerminator } = EdgeErrorCode;
  if (model.fabricService(serviceId) === undefined)
    return final(invalidService, 'there is no such service of the fabric');
  if (binding === SDK_BINDING || binding === TUNNEL_BINDING)
    return final(invalidTerminator, `binding ${binding} belongs to hosting SDKs`);
  return { identityId: undefined, serviceId, isEdge: false, binding };
}

function hostOf(service: Service, identityId: string | undefined, binding: string): TerminatorHost {
  const share = service.name;
  return { identityId, share, serviceId: service.id, isEdge: !isHostedService(service), binding };
}

/** Returns the body of an answer to a creation for a host. */
function resultOf(refusal: TerminatorRefusal | undefined, terminatorId: string) {
  if (refusal === undefined) return { terminatorId, result: CreateTerminatorResult.SUCCESS };
  const { text: msg, code: errorCode, retryHint } = refusal;
  const { FAILED_BUSY, FAILED_OTHER } = CreateTerminatorResult;
  const result = retryHint === RetryHint.tooBusy ? FAILED_BUSY : FAILED_OTHER;
  return { terminatorId, result, msg, errorCode, retryHint };
}

/** The answer is an empty message of this type, or an error with its code. */
function edgeAnswer(router: ConnectedRouter, frame: Frame, responseType: number): AnswerTerminator {
  return (refusal) => {
    if (refusal === undefined) router.channel.reply(frame, makeFrame(responseType));
    else router.send(encodeEdgeRefusal(frame, refusal));
  };
}

/** The answer is a result with `text`, or with the id of the terminator. */
function resultAnswer(router: ConnectedRouter, frame: Frame, text?: string): AnswerTerminator {
  return (refusal, id) => router.result(frame, refusal === undefined, refusal?.text ?? text ?? id);
}
