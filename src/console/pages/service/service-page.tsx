/** How requests of a share reach its service. */
import { Alert, Button, Fieldset } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ShareAnswer, ShareUpstreamAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { useShare } from '../shares/share-frame.tsx';
import {
  acceptedCertificate,
  fieldsOfSection,
  sectionsFor,
  upstreamChanges,
  upstreamDraftOf,
  type UpstreamDraft,
  type UpstreamSection,
} from './upstream-draft.ts';
import { OneSetting } from './upstream-fields.tsx';
import { upstreamText } from './upstream-text.ts';

export function ServicePage(): ReactNode {
  const text = useText(upstreamText);
  const parameters = { frontdoorId: useFrontdoorId(), token: useParam('token') };
  const settings = useAnswer('getShareUpstream', { parameters });
  return (
    <AnswerView answer={useShare()}>
      {({ body: share }) =>
        sectionsFor(share).length === 0 ? (
          <Panel title={text.title}>
            <p>{text.noSettings}</p>
          </Panel>
        ) : (
          <AnswerView answer={settings}>
            {(read) => <ServiceForm key={share.token} share={share} now={read} reload={reloadOf(settings)} />}
          </AnswerView>
        )
      }
    </AnswerView>
  );
}

function ServiceForm(props: Editable<ShareUpstreamAnswer> & { readonly share: ShareAnswer }): ReactNode {
  const [text, parts] = [useText(upstreamText), useText(partsText)];
  const { may } = useSession();
  const { now, reload, share } = props;
  const edit = useEdit({ now, reload, draftOf: upstreamDraftOf });
  const change = useChange('changeShareUpstream', { refreshes: ['share'], onDone: edit.saved });
  const { body: settings, etag: ifMatch } = edit.base;
  const changes = upstreamChanges(settings, edit.draft);
  const sections = sectionsFor(share);
  const parameters = { frontdoorId: useFrontdoorId(), token: share.token };
  const mayChange = may('changeShareUpstream');
  return (
    <Panel title={text.title}>
      <p className="fd-soft">{mayChange ? text.intro : text.roleTooLow}</p>
      <PresentedCertificate
        fingerprint={share.failure?.presentedCertificate}
        accepted={edit.draft.tlsPin}
        isDisabled={!mayChange}
        onAccept={(fingerprint) => edit.type(acceptedCertificate(fingerprint))}
      />
      <EditForm
        edit={edit}
        change={change}
        fields={sections.flatMap(fieldsOfSection)}
        submit={parts.save}
        isDisabled={changes === undefined || !mayChange}
        onSubmit={() => {
          if (changes !== undefined) change.mutate({ parameters, body: changes, ifMatch });
        }}
      >
        {/* Nothing in it can be changed by who may not change it. */}
        <fieldset className="fd-bare" disabled={!mayChange}>
          {sections.map((section) => (
            <Section key={section} section={section} draft={edit.draft} onChange={edit.type} />
          ))}
        </fieldset>
      </EditForm>
      <ConfirmedAction
        operation="resetShareUpstream"
        input={{ parameters, ifMatch }}
        refreshes={['share']}
        size="sm"
        label={text.reset}
        title={text.resetTitle}
        isDisabled={!may('resetShareUpstream')}
        onDone={edit.discard}
      >
        <p>{text.resetText}</p>
      </ConfirmedAction>
    </Panel>
  );
}

/** The certificate that the agent saw and refused, to be compared with what the service itself shows. */
function PresentedCertificate(props: {
  readonly fingerprint: string | undefined;
  /** As it was typed. */
  readonly accepted: string;
  readonly isDisabled: boolean;
  readonly onAccept: (fingerprint: string) => void;
}): ReactNode {
  const text = useText(upstreamText);
  const { fingerprint, accepted, onAccept } = props;
  if (fingerprint === undefined || accepted.replaceAll(':', '').toLowerCase() === fingerprint) return null;
  const pairs = fingerprint.toUpperCase().match(/../g) ?? [];
  return (
    <Alert variant="outline" color="yellow" icon={<Icon name="warning" />} role="alert" mb="md">
      <p style={{ margin: 0 }}>{text.presented}</p>
      <p className="fd-mono fd-wrap">{pairs.join(':')}</p>
      <p>{text.presentedHelp}</p>
      <Button size="xs" variant="default" disabled={props.isDisabled} onClick={() => onAccept(fingerprint)}>
        {text.acceptCertificate}
      </Button>
    </Alert>
  );
}

function Section(props: {
  readonly section: UpstreamSection;
  readonly draft: UpstreamDraft;
  readonly onChange: (changes: Partial<UpstreamDraft>) => void;
}): ReactNode {
  const text = useText(upstreamText);
  const { section, draft, onChange } = props;
  return (
    <Fieldset legend={text[section]} mb="md">
      {section === 'certificate' ? <p className="fd-soft fd-small">{text.certificateIntro}</p> : null}
      {fieldsOfSection(section).map((name) => (
        <OneSetting key={name} name={name} draft={draft} onChange={onChange} />
      ))}
    </Fieldset>
  );
}
