import type { Family } from '../form-docs.ts';

export const identity: Family = {
  file: 'identity',
  title: 'Identity',
  about:
    'Who is asking. A user is any document with credentials; a token, which `login` gives, acts for it. All of it works without a network.',
  docs: {
    login: {
      summary:
        'A new token for the user behind a ref or set, if the password is right. The answer is the only one that shows its secret.',
      result: 'Document',
      errors: [
        [
          'authentication failed',
          'there is no such user, or the password is wrong: which of them, nobody is told',
        ],
        ['validation failed', 'the password is no String'],
      ],
      example:
        'Select("instance", Login(Match(Index("users_by_email"), "ada@example.org"), { password: "correct horse" }))',
    },
    logout: {
      summary:
        'Ends this token, or with true all tokens of the user. False when who asks has no token.',
      result: 'Boolean',
      example: 'Logout(true)',
      as: 'ada',
    },
    identify: {
      summary: 'Whether this is the user’s password.',
      result: 'Boolean',
      example: 'Identify(Ref(Collection("users"), "1"), "wrong horse")',
    },
    identity: {
      summary: 'The old name of `current_identity`.',
      result: 'Ref',
      errors: [['missing identity', 'who asks is no user']],
      example: 'Identity()',
      as: 'ada',
    },
    current_identity: {
      summary: 'The user that asks.',
      result: 'Ref',
      errors: [['missing identity', 'who asks is no user']],
      example: 'CurrentIdentity()',
      as: 'ada',
    },
    has_identity: {
      summary: 'The old name of `has_current_identity`.',
      result: 'Boolean',
      example: 'HasIdentity()',
    },
    has_current_identity: {
      summary: 'Whether a user asks.',
      result: 'Boolean',
      example: 'HasCurrentIdentity()',
      as: 'ada',
    },
    current_token: {
      summary: 'The token or key with which is asked; of a signed token what it holds.',
      result: 'Ref or Object',
      errors: [['invalid token', 'the key belongs to another database']],
      example: 'Select("collection", CurrentToken())',
      as: 'ada',
    },
    has_current_token: {
      summary: 'Whether `current_token` has an answer.',
      result: 'Boolean',
      example: 'HasCurrentToken()',
      as: 'ada',
    },
  },
};
