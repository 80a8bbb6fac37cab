import type { Family } from '../form-docs.ts';

export const identity: Family = {
  file: 'identity',
  title: 'Identity',
  about:
    'Users, logins and tokens. Any document can be a user: it only needs credentials. `login` returns a token that acts for the user. All of this works offline.',
  docs: {
    login: {
      summary:
        'Creates a token for the user at a ref or set, if the password is correct. Only this answer contains the secret of the token.',
      result: 'Document',
      errors: [
        [
          'authentication failed',
          'there is no such user, or the password is wrong; the error does not tell which',
        ],
        ['validation failed', 'the password is not a String'],
      ],
      example:
        'Select("instance", Login(Match(Index("users_by_email"), "ada@example.org"), { password: "correct horse" }))',
    },
    logout: {
      summary:
        'Revokes the token of the caller; with `true`, all tokens of the user. Returns false if the caller has no token.',
      result: 'Boolean',
      example: 'Logout(true)',
      as: 'ada',
    },
    identify: {
      summary: 'Whether a password is the user’s password.',
      result: 'Boolean',
      example: 'Identify(Ref(Collection("users"), "1"), "wrong horse")',
    },
    identity: {
      summary: 'The old name of `current_identity`.',
      result: 'Ref',
      errors: [['missing identity', 'the caller is not a user']],
      example: 'Identity()',
      as: 'ada',
    },
    current_identity: {
      summary: 'The user who is the caller.',
      result: 'Ref',
      errors: [['missing identity', 'the caller is not a user']],
      example: 'CurrentIdentity()',
      as: 'ada',
    },
    has_identity: {
      summary: 'The old name of `has_current_identity`.',
      result: 'Boolean',
      example: 'HasIdentity()',
    },
    has_current_identity: {
      summary: 'Whether the caller is a user.',
      result: 'Boolean',
      example: 'HasCurrentIdentity()',
      as: 'ada',
    },
    current_token: {
      summary: 'The token or key of the caller; for a signed token (JWT), its claims.',
      result: 'Ref or Object',
      errors: [['invalid token', 'the key belongs to another database']],
      example: 'Select("collection", CurrentToken())',
      as: 'ada',
    },
    has_current_token: {
      summary: 'Whether the caller has a token or key, so that `current_token` succeeds.',
      result: 'Boolean',
      example: 'HasCurrentToken()',
      as: 'ada',
    },
  },
};
