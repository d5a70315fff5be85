import { defineText } from '../../text/define-text.ts';

/** Texts of the settings of a share. */
export const shareSettingsText = defineText({
  en: {
    general: 'Settings',
    fixed: 'What stays',
    fixedText:
      'The name is part of the address, and the agent is part of the way: both stay. For others, publish the service again and delete this share.',
    name: 'Name',
    noName: 'none, the token is random',
    agent: 'Agent',
    publishAgain: 'Publish again',
    kept: 'Keep the share until it is deleted',
    keptHint: 'A share that is not kept ends when its agent releases it.',
    nothingChanged: 'Nothing is changed.',
    toPrivate:
      'The addresses of this share end at once. Nobody else can take its names for a while, so that nothing else is reached there.',
    toPublic:
      'The service becomes reachable for everybody with the address, as far as log-ins and policy permit. Look at its access first.',
    remove: 'Delete this share',
    removeText: 'Its addresses end at once, and open connections are cut. This cannot be undone.',
    removeTitle: (name: string) => `Delete ${name}`,
    removeAction: 'Delete',
    roleTooLow: 'Your role does not permit to change shares. You see the settings as they are.',
  },
  de: {
    general: 'Einstellungen',
    fixed: 'Was bleibt',
    fixedText:
      'Der Name gehört zur Adresse und der Agent zum Weg: beide bleiben. Für andere geben Sie den Dienst erneut frei und löschen diese Freigabe.',
    name: 'Name',
    noName: 'keiner, der Token ist zufällig',
    agent: 'Agent',
    publishAgain: 'Erneut freigeben',
    kept: 'Freigabe behalten, bis sie gelöscht wird',
    keptHint: 'Eine Freigabe, die nicht behalten wird, endet, wenn ihr Agent sie aufgibt.',
    nothingChanged: 'Nichts ist geändert.',
    toPrivate:
      'Die Adressen dieser Freigabe enden sofort. Eine Zeit lang kann niemand sonst ihre Namen nehmen, damit dort nichts anderes erreicht wird.',
    toPublic:
      'Der Dienst wird für alle erreichbar, die die Adresse haben, soweit Anmeldungen und Richtlinie es erlauben. Sehen Sie zuerst den Zugang an.',
    remove: 'Diese Freigabe löschen',
    removeText:
      'Ihre Adressen enden sofort, und offene Verbindungen werden getrennt. Das lässt sich nicht rückgängig machen.',
    removeTitle: (name: string) => `${name} löschen`,
    removeAction: 'Löschen',
    roleTooLow: 'Ihre Rolle erlaubt nicht, Freigaben zu ändern. Sie sehen die Einstellungen, wie sie sind.',
  },
});
