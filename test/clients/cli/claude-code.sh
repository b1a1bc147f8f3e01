export ANTHROPIC_BASE_URL="$GATEWAY_URL"
export ANTHROPIC_AUTH_TOKEN="$GATEWAY_KEY"
export ANTHROPIC_MODEL=claude-sonnet-5
# Claude Code uses a small model for short tasks, such as titles.
export ANTHROPIC_DEFAULT_HAIKU_MODEL=claude-haiku-4-5
