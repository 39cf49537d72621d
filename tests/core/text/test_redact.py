"""Shapes that are taken out, texts that stay, and that no text takes long."""

from pathlib import Path

import pytest
from ctx_inspect.core.text.redact import RULES, redact, uncovered

A = "a1B2" * 20
SECRETS = {
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\nabc\n-----END RSA PRIVATE KEY-----",
    "anthropic-key": "sk-ant-api03-" + A,
    "openrouter-key": "sk-or-v1-" + A,
    "openai-key": "sk-proj-" + A,
    "stripe-key": "sk_live_" + A,
    "stripe-webhook": "whsec_" + A,
    "github-token": "ghp_" + A[:36],
    "github-fine-token": "github_pat_" + A,
    "gitlab-token": "glpat-" + A[:20],
    "aws-access-key": "AKIA" + "ABCD2345" * 2,
    "google-api-key": "AIza" + A[:35],
    "google-oauth-token": "ya29." + A,
    "google-client-secret": "GOCSPX-" + A[:28],
    "slack-token": "xoxb-123456789012-" + A[:24],
    "slack-app-token": "xapp-1-" + A[:24],
    "slack-webhook": "T00000000/B00000000/" + A[:24],
    "discord-webhook": "123456789012345678/" + A[:60],
    "telegram-token": "123456789:AA" + A[:33],
    "npm-token": "npm_" + A[:36],
    "pypi-token": "pypi-" + A,
    "huggingface-token": "hf_" + A[:34],
    "groq-key": "gsk_" + A[:52],
    "xai-key": "xai-" + A,
    "perplexity-key": "pplx-" + A[:48],
    "replicate-token": "r8_" + A[:37],
    "sendgrid-key": f"SG.{A[:22]}.{A[:43]}",
    "digitalocean-token": "dop_v1_" + A[:64],
    "vault-token": "hvs." + A[:24],
    "linear-key": "lin_api_" + A[:40],
    "notion-token": "ntn_" + A[:46],
    "age-key": "AGE-SECRET-KEY-1" + "Q2W3" * 14,
    "jwt": f"eyJ{A[:20]}.eyJ{A[:30]}.{A[:43]}",
    "authorization": "Zm9vOmJhcg==",
    "bearer-token": "abcDEF123._~+/-xyz987",
    "url-password": "hunter2",
    "password": "correct-horse",
    "secret-value": "d41d8cd98f00b204",
}
FRAMES = {
    "slack-webhook": "https://hooks.slack.com/services/{}",
    "discord-webhook": "https://discord.com/api/webhooks/{}",
    "authorization": "Authorization: Basic {}",
    "bearer-token": 'curl -H "X: Bearer {}"',
    "url-password": "postgres://admin:{}@db.example.invalid/x",
    "password": 'PGPASSWORD="{}" psql',
    "secret-value": "export SERVICE_API_KEY={}",
}


def test_every_rule_is_public() -> None:
    page = (Path(__file__).parents[3] / "docs" / "security.md").read_text(encoding="utf-8")
    assert [name for name in SECRETS if f"`{name}`" not in page] == []


def test_every_rule_has_a_case() -> None:
    assert {rule.name for rule in RULES} == set(SECRETS)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_goes(name: str) -> None:
    frame = "before " + FRAMES.get(name, "{}") + " after"
    out = redact(frame.format(SECRETS[name]))
    assert SECRETS[name] not in out
    assert out == frame.format(f"[redacted:{name}]")


@pytest.mark.parametrize("name", sorted(set(SECRETS) - set(FRAMES)))
@pytest.mark.parametrize(
    "frame",
    [
        '{{"apiKey":"{}"}}',
        "KEY={}\n",
        "token: {}",
        "`{}`",
        "https://x.invalid/?k={}&b=1",
        "\x1b[31m{}\x1b[0m",
        '{{"command":"echo\\n{}\\n"}}',
    ],
)
def test_a_secret_goes_in_any_frame(name: str, frame: str) -> None:
    out = redact(frame.format(SECRETS[name]))
    assert SECRETS[name] not in out
    assert SECRETS[name][-12:] not in out
    assert out.count("[redacted:") == 1


@pytest.mark.parametrize(
    "text",
    [
        "Fix the token counting in tokenizer.py",
        "the key: value pairs",
        "password reset flow",
        "class Token: pass",
        "max_tokens = 4096",
        "sk-learn and sk-image",
        "git@github.com:owner/name.git",
        "http://localhost:8080/path@2",
        "https://example.invalid:443/a",
        "session 01a22dee-967c-7598-ba67-a30a9373781e",
        "ses_1234567890abcdefghij",
        "sha256 446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "AKIA is a prefix",
        "Authorization was refused",
        "const apiKey = process.env.API_KEY",
        "api_key=$API_KEY_2",
        "",
    ],
)
def test_plain_text_stays(text: str) -> None:
    assert redact(text) == text


def test_twice_is_once() -> None:
    text = " ".join(FRAMES.get(n, "{}").format(s) for n, s in SECRETS.items())
    once = redact(text)
    assert redact(once) == once
    assert not any(s in once for n, s in SECRETS.items())


def test_uncovered() -> None:
    assert uncovered("key sk-ant-" + A, True) == "key sk-ant-" + A
    assert uncovered("key sk-ant-" + A, False) == "key [redacted:anthropic-key]"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "sk-",
        "sk-ant-",
        "-----BEGIN PRIVATE KEY-----",
        "://",
        "://a:",
        "eyJaaaaaaaa.",
        "_key=",
        "authorization:",
        "password=",
        "bearer ",
        "1:AA",
        " ",
        "SG.aaaaaaaaaaaaaaaa.",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """A rule that looks back would take hours on a megabyte of what it nearly matches."""
    redact(piece * (1_000_000 // len(piece)))
