/** The settings of a share: target, mode, frontends or grants, and its end. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { refreshKind, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { reloadOf } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { AgentName } from '../agents/agent-name.tsx';
import { useShare } from './share-frame.tsx';
import { ShareSettingsForm } from './share-settings-form.tsx';
import { shareSettingsText } from './share-settings-text.ts';

export function ShareSettingsPage(): ReactNode {
  const answer = useShare();
  return (
    <AnswerView answer={answer}>
      {({ body: share, etag }) => (
        <>
          <ShareSettingsForm key={share.token} now={{ body: share, etag }} reload={reloadOf(answer)} />
          <Fixed share={share} />
          <Removal share={share} etag={etag} />
        </>
      )}
    </AnswerView>
  );
}

function Fixed({ share: { name, environmentId } }: { readonly share: ShareAnswer }): ReactNode {
  const text = useText(shareSettingsText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  return (
    <Panel title={text.fixed}>
      <p className="fd-soft">{text.fixedText}</p>
      <Facts
        facts={[
          [text.name, name ?? text.noName],
          [
            text.agent,
            <Link
              key="agent"
              to="/frontdoors/$frontdoorId/agents/$environmentId"
              params={{ frontdoorId, environmentId }}
            >
              <AgentName id={environmentId} />
            </Link>,
          ],
        ]}
      />
      {may('createShare') ? (
        <p>
          <LinkButton
            variant="default"
            to="/frontdoors/$frontdoorId/shares/new"
            params={{ frontdoorId }}
            search={{ environmentId }}
          >
            {text.publishAgain}
          </LinkButton>
        </p>
      ) : null}
    </Panel>
  );
}

function Removal({
  share,
  etag,
}: {
  readonly share: ShareAnswer;
  readonly etag: string | undefined;
}): ReactNode {
  const text = useText(shareSettingsText);
  const { may } = useSession();
  const [ifMatch, setIfMatch] = useState<string | undefined>();
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel title={text.remove}>
      <p>{text.removeText}</p>
      <Button
        variant="default"
        className="fd-danger"
        disabled={!may('deleteShare')}
        onClick={() => {
          setIfMatch(etag);
          setOpen(true);
        }}
      >
        {text.remove}
      </Button>
      {isOpen ? <DeleteShare share={share} ifMatch={ifMatch} onClose={() => setOpen(false)} /> : null}
    </Panel>
  );
}

function DeleteShare(props: {
  readonly share: ShareAnswer;
  readonly ifMatch: string | undefined;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(shareSettingsText);
  const frontdoorId = useFrontdoorId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { token, name } = props.share;
  const leave = async () => {
    await navigate({ to: '/frontdoors/$frontdoorId/shares', params: { frontdoorId } });
    // Only then, so that nobody asks for the share that is gone.
    refreshKind(client, 'share');
  };
  const remove = useChange('deleteShare', { onDone: () => void leave() });
  return (
    <ConfirmDialog
      title={text.removeTitle(name ?? token)}
      isOpen
      onClose={props.onClose}
      action={text.removeAction}
      typed={name ?? token}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ parameters: { frontdoorId, token }, ifMatch: props.ifMatch })}
    >
      <p>{text.removeText}</p>
    </ConfirmDialog>
  );
}
