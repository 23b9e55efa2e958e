import { Body, Controller, Get, Header, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { clientAddressOf } from '../../../../platform/http/client-address.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { ExchangeToken } from '../../application/exchange-token.js';
import { SigningKeys } from '../../read/signing-keys.js';
import { PublishableKeys, tellQuota } from './publishable-keys.js';
import { Renewals } from './renewals.js';
import { ExchangeBody, JwksBody, TokenBody, tokenBody } from './token-bodies.js';

/** Turns a publishable key into a short-lived token bound to the origin of the page (docs/contract/platform.md#token-exchange). */
@ApiTags('auth')
@Controller('auth/token')
export class TokenController {
  constructor(
    private readonly commands: CommandBus,
    private readonly renewals: Renewals,
  ) {}

  @Post('exchange')
  @Limited({ by: ['tokenExchangePerMinute', 'tokenExchangePerMinutePerKey'] })
  @RouteConfig({ authenticator: PublishableKeys, anyBody: true, changesNothing: true })
  @Header('cache-control', 'no-store')
  @ApiSecurity('publishable-key')
  @ApiHeader({
    name: 'X-Session-Token',
    required: false,
    description: 'A session grant. The body field session_token has the same effect.',
  })
  @ApiHeader({
    name: 'Authorization',
    required: false,
    description:
      'A bearer token of the same key and origin that is still good: it is renewed, with its account and its grant.',
  })
  @Operation({
    id: 'exchangeToken',
    summary: 'Exchange a publishable key for a bearer token, or renew one',
    description: 'A token is good for one hour and for the origin of the page. With a good bearer token it is renewed.',
    body: ExchangeBody,
    bodyIsOptional: true,
    replies: { 200: TokenBody },
    headers: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
    errors: [
      'token.key_missing',
      'token.key_invalid',
      'token.key_inactive',
      'token.origin_missing',
      'token.origin_not_allowed',
      'token.billing_not_configured',
    ],
  })
  async exchange(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TokenBody> {
    const { 'x-publishable-key': publishableKey, origin, 'x-session-token': sessionToken } = request.headers;
    // The key is checked first and the quota is reported, whatever the body contains. A refused request does not use up the grant.
    const refusal = body instanceof DomainError ? body : null;
    const grant = refusal ? null : (present(sessionToken) ?? grantIn(body));
    const { quota, result } = await this.commands.execute(
      new ExchangeToken({
        publishableKey: present(publishableKey),
        origin: present(origin),
        sessionToken: grant,
        renewed: await this.renewals.in(request, reply),
        clientAddress: clientAddressOf(request),
        correlationId: request.id,
      }),
    );
    tellQuota(reply, quota);
    if (result instanceof DomainError) throw result;
    if (refusal) throw refusal;
    return tokenBody(result);
  }
}

/** The public parts of the signing keys (RFC 7517), for integrators who verify tokens themselves. */
@ApiTags('auth')
@Controller('.well-known')
export class JwksController {
  constructor(private readonly keys: SigningKeys) {}

  @Get('jwks.json')
  @ReadsOnly()
  @Header('cache-control', 'public, max-age=300')
  @Operation({
    id: 'readSigningKeys',
    summary: 'Public keys that verify the bearer tokens',
    description: 'A JSON Web Key Set (RFC 7517). Keys stay in it for as long as a token of theirs may be good.',
    replies: { 200: JwksBody },
    errors: [],
  })
  jwks(): JwksBody {
    return this.keys.jwks();
  }
}

/** A header without a value counts as missing. */
function present(header: string | string[] | undefined): string | null {
  return header === undefined || header === '' ? null : String(header);
}

/** A grant of the wrong type counts as an unknown grant. An unknown grant never makes the exchange fail. */
function grantIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'session_token')) return null;
  const given = (body as { session_token: unknown }).session_token;
  if (given === null || given === '') return null;
  return typeof given === 'string' ? given : '';
}
